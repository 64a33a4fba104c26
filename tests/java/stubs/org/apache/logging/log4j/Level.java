package org.apache.logging.log4j;

public final class Level {
	public static final Level WARN = new Level();
	public static final Level ERROR = new Level();
}
