package rules;

import java.text.MessageFormat;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* String.format, MessageFormat, String.join, formatted text as a part of more text. */
class Formats {
	private static final Logger LOG = LoggerFactory.getLogger(Formats.class);
	private static final String FORMAT = "op: %s, bytes: %d, at %,.3f%%";

	void percent(String s, int n, double d) {
		LOG.info(String.format("%s has %d", s, n)); //= info: {} has {}
		LOG.info(String.format(Locale.ROOT, "%5d|%-8s|%02x", n, s, n)); //= info: {}|{}|{}
		LOG.info(String.format(FORMAT, s, n, d)); //= info: op: {}, bytes: {}, at {}%
		LOG.info(String.format("100%% of %s%n", s)); //= info: 100% of {}\n
		LOG.info(String.format("%2$s before %1$s", s, n)); //= info: {} before {}
		LOG.info("in front " + String.format("of %d", n) + " behind"); //= info: in front of {} behind
	}

	void numbers(String s, int n) {
		LOG.info(MessageFormat.format("{0} with {1,number,integer} it''s", s, n)); //= info: {} with {} it's
		LOG.info(MessageFormat.format("'{0}' is text, {0} is not", s)); //= info: \{0\} is text, {} is not
	}
}
