package scala.collection.immutable;

public class StringOps {
	public StringOps(String text) {}
	public String format(scala.collection.Seq<Object> args) {
		return null;
	}
}
