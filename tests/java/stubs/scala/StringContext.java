package scala;

public class StringContext {
	public StringContext(scala.collection.Seq<String> parts) {}
	public String s(scala.collection.Seq<Object> args) {
		return null;
	}
}
