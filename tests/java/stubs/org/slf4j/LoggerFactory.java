package org.slf4j;

public class LoggerFactory {
	public static native Logger getLogger(Class<?> c);
	public static native Logger getLogger(String name);
}
