package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/* slf4j: every level, arguments one by one and as an array, exceptions, markers, the fluent way. */
class Slf4j {
	private static final Logger LOG = LoggerFactory.getLogger(Slf4j.class);
	private static final Logger NAMED = LoggerFactory.getLogger("audit");
	private final Logger own = LoggerFactory.getLogger(getClass());

	void levels() {
		LOG.trace("t"); //= trace rules.Slf4j: t
		LOG.debug("d"); //= debug rules.Slf4j: d
		LOG.info("i"); //= info rules.Slf4j: i
		LOG.warn("w"); //= warn rules.Slf4j: w
		LOG.error("e"); //= error rules.Slf4j: e
		NAMED.info("granted"); //= info audit: granted
		own.info("of a class below too"); //= info rules.Slf4j*: of a class below too
	}

	void arguments(String user, int port, Object[] many, long size, boolean fast) {
		LOG.info("user {}", user); //= info: user {}
		LOG.info("user {} at {}", user, port); //= info: user {} at {}
		LOG.info("{}: user {} at {} reads {}", fast, user, port, size); //= info: {}: user {} at {} reads {}
		LOG.info("as an array {} {}", many); //= info: as an array {} {}
		LOG.info("more holes {} {} than arguments", user); //= info: more holes {} {} than arguments
		LOG.info("escaped \\{} then {}", user); //= info: escaped \{\} then {}
	}

	void errors(Exception e, String file) {
		LOG.error("cannot open", e); //= error!: cannot open
		LOG.error("cannot open {}", file, e); //= error!: cannot open {}
		LOG.warn("odd", new IllegalStateException("x")); //= warn!: odd
		LOG.error("cannot move {} to {}", file, "there", e); //= error!: cannot move {} to there
	}

	void guards(String what) {
		if (LOG.isDebugEnabled())
			LOG.debug("guarded {}", what); //= debug: guarded {}
		if (LOG.isTraceEnabled()) {
			LOG.trace("guarded " + what); //= trace: guarded {}
		}
	}

	void fluent(String user, int port, Marker m) {
		LOG.info(m, "marked {}", user); //= info: marked {}
		LOG.atInfo().log("fluent"); //= info: fluent
		LOG.atWarn().addArgument(user).addArgument(port).log("{} on {}"); //= warn: {} on {}
		LOG.atInfo().addKeyValue("k", user).log("with key {}", port); //= info: with key {}
		LOG.atInfo().setMessage("set before, {}").addArgument(user).log(); //= info: set before, {}
		LOG.atDebug().log(() -> "supplied to " + user); //= debug: supplied to {}
	}
}
