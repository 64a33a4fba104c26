package org.slf4j;

import org.slf4j.spi.LoggingEventBuilder;

public interface Logger {
	boolean isDebugEnabled();
	boolean isTraceEnabled();
	void trace(String message);
	void trace(String format, Object a);
	void debug(String message);
	void debug(String format, Object a);
	void debug(String format, Object a, Object b);
	void debug(String format, Object... all);
	void info(String message);
	void info(String format, Object a);
	void info(String format, Object a, Object b);
	void info(String format, Object... all);
	void info(Marker marker, String format, Object a);
	void warn(String message);
	void warn(String format, Object a);
	void warn(String format, Object a, Object b);
	void warn(String message, Throwable error);
	void error(String message);
	void error(String format, Object a, Object b);
	void error(String message, Throwable error);
	void error(String format, Object... all);
	LoggingEventBuilder atInfo();
	LoggingEventBuilder atWarn();
	LoggingEventBuilder atDebug();
}
