package org.apache.log4j;

public class Level extends Priority {
	public static final Level WARN = new Level();
	public static final Level INFO = new Level();
}
