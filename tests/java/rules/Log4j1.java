package rules;

import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/* log4j 1: messages are objects, levels may be arguments. */
class Log4j1 {
	private static final Logger LOG = Logger.getLogger(Log4j1.class);
	private static final Logger NAMED = Logger.getLogger("org.other.Name");

	void all(int n, Throwable t) {
		LOG.trace("t " + n); //= trace rules.Log4j1: t {}
		LOG.debug("d"); //= debug: d
		LOG.info("i"); //= info: i
		LOG.warn("w", t); //= warn!: w
		LOG.error("e", t); //= error!: e
		LOG.fatal("f"); //= fatal: f
		LOG.log(Level.WARN, "by level " + n); //= warn: by level {}
		LOG.log(Level.INFO, "by level and error", t); //= info!: by level and error
		NAMED.info("elsewhere"); //= info org.other.Name: elsewhere
		LOG.info("braces {} are text here"); //= info: braces \{\} are text here
		LOG.info(n); //= info: {}
		LOG.error(t); //= error: {}
	}
}
