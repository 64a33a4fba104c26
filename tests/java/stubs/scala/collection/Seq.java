package scala.collection;

public interface Seq<T> {}
