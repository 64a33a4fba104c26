package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Methods that build the message, and methods that are handed it. */
class Helpers {
	private static final Logger LOG = LoggerFactory.getLogger(Helpers.class);
	private final String tag = "[task] ";

	private String prefix(String s) {
		return tag + s;
	}

	private static String describe(int n, String what) {
		return what + " number " + n;
	}

	private static String either(int n) {
		if (n > 0)
			return "more than nothing";
		return "nothing";
	}

	void built(int n) {
		LOG.info(prefix("begun")); //= info: [task] begun
		LOG.info(prefix("at " + n)); //= info: [task] at {}
		LOG.info("now " + describe(n, "thing")); //= info: now thing number {}
		LOG.info(describe(n, describe(n, "part"))); //= info: part number {} number {}
		LOG.info(either(n)); //= info: more than nothing | nothing
	}

	private static String[] report(int n) {
		return new String[] { "Version " + n, "Compiled by nobody" };
	}

	private static String known(String s) {
		return s != null ? System.getProperty(s) : "Unknown";
	}

	private static String[] versions(String s) {
		return new String[] { "Made " + known(s), "From " + known(s) + " -r " + known(s),
			"Compiled by " + known(s) + " on " + known(s) };
	}

	/* each of the lines can be told whatever is known */
	void many(String s) {
		for (String line : versions(s))
			LOG.info(line); //= info: Compiled by Unknown on Unknown | Compiled by {*} on {*} | From {*} -r {*} | Made {} || Compiled by Unknown on Unknown | Made {}
	}

	void lines(int n) {
		for (String line : report(n))
			LOG.info(line); //= info: Version {} | Compiled by nobody
	}

	private String unset;

	void deep(int n, byte[] data, boolean b) {
		LOG.info(prefix("deep " + unset + " end")); //= info: [task] deep {Helpers.unset} end
		LOG.info(prefix("got " + (data == null ? 0 : data.length) + " bytes" + (b ? " and watch; " : "; data=") + (data == null ? "null" : data.length == 0 ? "empty" : new String(data)))); //= info: [task] got 0 bytes and watch; empty | [task] got {*} bytes{*}
	}

	private void say(String message) {
		LOG.warn(message); //= warn: called with one {} | called with two
	}

	private void sayAbout(String message, int n) {
		LOG.info("about: " + message + " " + n); //= info: about: {} {}
	}

	void handed(int n) {
		say("called with one " + n);
		say("called with two");
		sayAbout("this", n);
	}

	int endless(int n) {
		LOG.info(again(n)); //= info: *
		return n;
	}

	private String again(int n) {
		return n > 9 ? "end" : "x" + again(n + 1);
	}
}
