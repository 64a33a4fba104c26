package rules;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/* commons-logging, and loggers that are aliases of those of other classes. */
class CommonsLogging {
	static final Log LOG = LogFactory.getLog(CommonsLogging.class);
	static final Log BY_NAME = LogFactory.getLog(CommonsLogging.class.getName() + ".clienttrace");

	void all(int n, Exception e) {
		LOG.trace("t"); //= trace rules.CommonsLogging: t
		LOG.debug("d" + n); //= debug: d{}
		LOG.info("i"); //= info: i
		LOG.warn("w", e); //= warn!: w
		LOG.error("e"); //= error: e
		LOG.fatal("f", e); //= fatal!: f
		BY_NAME.info("read"); //= info rules.CommonsLogging.clienttrace: read
	}

	static class Alias {
		static final Log LOG = CommonsLogging.LOG;
		final Log mine = LOG;

		void say() {
			LOG.info("aliased"); //= info rules.CommonsLogging: aliased
			mine.info("twice"); //= info rules.CommonsLogging: twice
			logger().info("handed out"); //= info rules.CommonsLogging: handed out
		}

		Log logger() {
			return mine;
		}
	}
}
