package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Text that stands elsewhere: constants, fields, enums, constants of other classes. */
class Constants {
	private static final Logger LOG = LoggerFactory.getLogger(Constants.class);
	static final String INLINED = "inlined";
	static final String MADE = "made " + System.getProperty("x") + " here";
	static final int LIMIT = 42;
	private static final String READ_FORMAT = String.format("read %s", "%s") + ", bytes: %d";
	private final String ours;
	private String changing = "at first";

	enum Kind {
		SMALL("tiny"),
		BIG("huge");

		private final String text;

		Kind(String text) {
			this.text = text;
		}

		String text() {
			return text;
		}
	}

	interface Words {
		String HELLO = "hello";
	}

	Constants() {
		ours = "set when made";
	}

	void all(int n, String s, Kind k) {
		LOG.info(INLINED + " " + LIMIT); //= info: inlined 42
		LOG.info(MADE); //= info: made {} here
		LOG.info(ours + " " + n); //= info: set when made {}
		LOG.info(changing); //= info: at first | {}
		LOG.info(Words.HELLO + " " + s); //= info: hello {}
		LOG.info("kind " + Kind.BIG); //= info: kind BIG
		LOG.info("kind " + k); //= info: kind {}
		LOG.info("class " + Constants.class.getSimpleName()); //= info: class Constants
		LOG.info("class " + Kind.class.getName()); //= info: class rules.Constants$Kind
	}

	private static final String NONE = null;
	private String late = NONE;

	private String late() {
		if (late == NONE)
			late = System.getProperty("late");
		return late;
	}

	/* what is null at first says nothing of what comes later */
	void unset() {
		LOG.info("before " + late() + " behind"); //= info: before {} behind
	}

	void change(String s) {
		changing = s;
	}
}
