package org.apache.commons.logging;

public interface Log {
	boolean isDebugEnabled();
	void trace(Object message);
	void debug(Object message);
	void info(Object message);
	void warn(Object message);
	void warn(Object message, Throwable t);
	void error(Object message);
	void error(Object message, Throwable t);
	void fatal(Object message);
	void fatal(Object message, Throwable t);
}
