package org.jboss.logging;

public class Logger {
	public static native Logger getLogger(Class<?> c);
	public native void info(Object message);
	public native void infof(String format, Object... all);
	public native void warnv(String format, Object... all);
	public native void errorf(Throwable t, String format, Object a);
}
