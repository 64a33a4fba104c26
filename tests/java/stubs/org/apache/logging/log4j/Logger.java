package org.apache.logging.log4j;

import org.apache.logging.log4j.util.Supplier;

public interface Logger {
	boolean isDebugEnabled();
	void trace(String message);
	void debug(String message);
	void debug(Supplier<?> message);
	void debug(String format, Supplier<?>... all);
	void info(String message);
	void info(Object message);
	void info(String format, Object a);
	void info(String format, Object a, Object b, Object c);
	void warn(String message, Throwable t);
	void error(String message);
	void fatal(String message);
	void log(Level level, String message);
	void log(Level level, String format, Object a);
	void printf(Level level, String format, Object... all);
	LogBuilder atInfo();
	LogBuilder atError();
	LogBuilder atLevel(Level level);
}
