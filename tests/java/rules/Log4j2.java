package rules;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/* log4j 2: braces, printf, suppliers, the level as an argument, builders. */
class Log4j2 {
	private static final Logger LOG = LogManager.getLogger();
	private static final Logger NAMED = LogManager.getLogger("two");

	void all(int n, String s, Throwable t) {
		LOG.trace("t"); //= trace rules.Log4j2: t
		LOG.info("one {}", n); //= info: one {}
		LOG.info("three {} {} {}", n, s, s); //= info: three {} {} {}
		LOG.warn("thrown", t); //= warn!: thrown
		LOG.fatal("fatal"); //= fatal: fatal
		LOG.log(Level.WARN, "by level"); //= warn: by level
		LOG.log(Level.ERROR, "by level {}", s); //= error: by level {}
		LOG.printf(Level.WARN, "%d of %s", n, s); //= warn: {} of {}
		LOG.debug(() -> "supplied " + n); //= debug: supplied {}
		LOG.debug("supplied {} and {}", () -> n, () -> s); //= debug: supplied {} and {}
		LOG.atInfo().log("built"); //= info: built
		LOG.atError().withThrowable(t).log("built with {}", s); //= error: built with {}
		LOG.atLevel(Level.WARN).log("built at level"); //= warn: built at level
		NAMED.info("named"); //= info two: named
	}
}
