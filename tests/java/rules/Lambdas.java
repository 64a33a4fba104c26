package rules;

import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Statements inside of lambdas, inner classes, initializers, constructors, interfaces. */
class Lambdas {
	private static final Logger LOG = LoggerFactory.getLogger(Lambdas.class);

	static {
		LOG.info("class begins"); //= info: class begins
	}

	{
		LOG.info("object begins"); //= info: object begins | object begins
	}

	Lambdas() {
		LOG.info("made"); //= info: made
	}

	Lambdas(int n) {
		LOG.info("made of {}", n); //= info: made of {}
	}

	interface Speaker {
		default void speak(String s) {
			LOG.info("by default " + s); //= info: by default {}
		}
	}

	void all(List<String> names, int n) {
		names.forEach(s -> LOG.info("each " + s + " of " + n)); //= info: each {} of {}
		Runnable r = new Runnable() {
			@Override
			public void run() {
				LOG.info("anonymous " + n); //= info: anonymous {}
			}
		};
		r.run();
		Supplier<String> text = () -> "later " + n;
		LOG.info(text.get()); //= info: later {} || {}
	}
}
