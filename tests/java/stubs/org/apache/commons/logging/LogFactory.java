package org.apache.commons.logging;

public class LogFactory {
	public static native Log getLog(Class<?> c);
	public static native Log getLog(String name);
}
