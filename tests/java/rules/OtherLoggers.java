package rules;

import org.jboss.logging.Logger;

/* Loggers that are no list's: logback's own type, jboss, wrappers of a system, Scala's closures. */
class OtherLoggers {
	static final ch.qos.logback.classic.Logger BACK =
		(ch.qos.logback.classic.Logger)org.slf4j.LoggerFactory.getLogger(OtherLoggers.class);
	static final Logger BOSS = Logger.getLogger(OtherLoggers.class);
	final Chatter chatter = new Chatter();
	final TaskLog tasks = new TaskLog();

	/* has the methods of a logger and not its name */
	static class Chatter {
		void debug(String s) {}
		void info(String s) {}
		void warn(String s) {}
		void error(String s) {}
	}

	static class TaskLog {
		void info(String s, Object... args) {}
	}

	/* neither the name nor the methods */
	static class Screen {
		void info(String s) {}
		void error(int code) {}
	}

	void all(int n, String s, Throwable t) {
		BACK.info("back {}", s); //= info rules.OtherLoggers: back {}
		BOSS.infof("boss %s has %d", s, n); //= info: boss {} has {}
		BOSS.warnv("boss {0}", s); //= warn: boss {}
		BOSS.errorf(t, "lost %s", s); //= error: lost {}
		chatter.info("shaped " + s); //= info: shaped {}
		tasks.info("task {} of {}", n, s); //= info: task {} of {}
		new Screen().info("not a log");
		new Screen().error(4);
	}

	/* what scalac made of logInfo(s"done $n") before it had lambdas, and after */
	void logInfo(scala.Function0<String> message) {}

	static class Anonymous extends scala.runtime.AbstractFunction0<String> {
		private final int n;

		Anonymous(int n) {
			this.n = n;
		}

		public final String apply() {
			return new StringBuilder().append("done ").append(n).toString();
		}
	}

	void closures(int n) {
		logInfo(new Anonymous(n)); //= info: done {}
		logInfo(() -> "lambda " + n); //= info: lambda {}
	}
}
