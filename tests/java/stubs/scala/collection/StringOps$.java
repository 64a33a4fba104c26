package scala.collection;

public class StringOps$ {
	public static final StringOps$ MODULE$ = new StringOps$();

	public String format$extension(String text, Seq<Object> args) {
		return null;
	}
}
