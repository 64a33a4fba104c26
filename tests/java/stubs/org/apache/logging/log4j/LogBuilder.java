package org.apache.logging.log4j;

public interface LogBuilder {
	LogBuilder withThrowable(Throwable t);
	void log(String message);
	void log(String message, Object a);
}
