package org.slf4j.spi;

import java.util.function.Supplier;

public interface LoggingEventBuilder {
	LoggingEventBuilder addArgument(Object a);
	LoggingEventBuilder addKeyValue(String key, Object value);
	LoggingEventBuilder setMessage(String message);
	LoggingEventBuilder setCause(Throwable cause);
	void log();
	void log(String message);
	void log(String message, Object a);
	void log(Supplier<String> message);
}
