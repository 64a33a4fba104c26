package org.apache.log4j;

public class Category {
	public native boolean isDebugEnabled();
	public native void debug(Object message);
	public native void info(Object message);
	public native void warn(Object message);
	public native void warn(Object message, Throwable t);
	public native void error(Object message);
	public native void error(Object message, Throwable t);
	public native void fatal(Object message);
	public native void log(Priority p, Object message);
	public native void log(Priority p, Object message, Throwable t);
}
