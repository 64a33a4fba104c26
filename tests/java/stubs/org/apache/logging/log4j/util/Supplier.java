package org.apache.logging.log4j.util;

public interface Supplier<T> {
	T get();
}
