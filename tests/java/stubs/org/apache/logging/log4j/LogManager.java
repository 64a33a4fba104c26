package org.apache.logging.log4j;

public class LogManager {
	public static native Logger getLogger();
	public static native Logger getLogger(Class<?> c);
	public static native Logger getLogger(String name);
}
