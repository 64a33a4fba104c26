package org.apache.log4j;

public class Logger extends Category {
	public static native Logger getLogger(Class<?> c);
	public static native Logger getLogger(String name);
	public static native Logger getRootLogger();
	public native void trace(Object message);
}
