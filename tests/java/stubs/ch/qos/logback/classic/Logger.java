package ch.qos.logback.classic;

public abstract class Logger implements org.slf4j.Logger {
}
