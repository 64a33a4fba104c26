package scala;

public class Predef$ {
	public static final Predef$ MODULE$ = new Predef$();

	public String augmentString(String s) {
		return s;
	}
	public <T> scala.collection.Seq<T> genericWrapArray(Object array) {
		return null;
	}
}
