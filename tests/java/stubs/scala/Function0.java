package scala;

public interface Function0<T> {
	T apply();
}
