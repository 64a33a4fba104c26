package scala.runtime;

public abstract class AbstractFunction0<T> implements scala.Function0<T> {
}
