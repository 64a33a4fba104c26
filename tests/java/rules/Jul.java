package rules;

import java.util.logging.Level;
import java.util.logging.Logger;

/* java.util.logging: numbered holes, level names of its own, suppliers. */
class Jul {
	private static final Logger LOG = Logger.getLogger(Jul.class.getName());

	void all(int n, String s, Exception e) {
		LOG.finest("finest"); //= trace rules.Jul: finest
		LOG.finer("finer"); //= trace: finer
		LOG.fine("fine"); //= debug: fine
		LOG.config("config"); //= info: config
		LOG.info("info " + n); //= info: info {}
		LOG.warning("warning"); //= warn: warning
		LOG.severe("severe"); //= error: severe
		LOG.log(Level.INFO, "plain"); //= info: plain
		LOG.log(Level.WARNING, "one {0} only", s); //= warn: one {} only
		LOG.log(Level.SEVERE, "two {1} and {0}", new Object[] { n, s }); //= error: two {} and {}
		LOG.log(Level.WARNING, "thrown", e); //= warn!: thrown
		LOG.info(() -> "supplied " + s); //= info: supplied {}
		LOG.logp(Level.INFO, "Jul", "all", "with place"); //= info: with place
	}
}
