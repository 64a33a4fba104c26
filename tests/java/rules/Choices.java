package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Branches: several texts for one statement. */
class Choices {
	private static final Logger LOG = LoggerFactory.getLogger(Choices.class);

	void ternary(boolean b, String s) {
		LOG.info(b ? "yes it is" : "no"); //= info: yes it is | no
		LOG.info("it is " + (b ? "very true" : "false") + " that " + s); //= info: it is very true that {} | it is false that {}
		LOG.info("with " + (s == null ? "nobody" : s)); //= info: with nobody | with {}
	}

	void variable(int n) {
		String s;

		if (n > 0)
			s = "positive " + n;
		else if (n < 0)
			s = "negative";
		else
			s = "zero";
		LOG.info("number: " + s); //= info: number: positive {} | number: negative | number: zero
	}

	void switches(int n) {
		String s;

		switch (n) {
		case 1: s = "one"; break;
		case 2: s = "two"; break;
		default: s = "many";
		}
		LOG.info(s); //= info: one | two | many
	}

	void caught(String s) {
		String result = "none";

		try {
			result = Integer.toString(Integer.parseInt(s));
		} catch (NumberFormatException e) {
			result = "broken";
		}
		LOG.info("result is " + result); //= info: result is broken | result is {}
	}
}
