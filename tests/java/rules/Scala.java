package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Predef$;
import scala.StringContext;
import scala.collection.StringOps$;
import scala.collection.immutable.StringOps;

/* What scalac makes of texts: "...".format(...) of 2.13 and of 2.12, and s"...". */
class Scala {
	static final Logger LOG = LoggerFactory.getLogger(Scala.class);

	void all(int n, String s) {
		LOG.info(StringOps$.MODULE$.format$extension( //= info: block {} has {} bytes
			Predef$.MODULE$.augmentString("block %s has %d bytes"),
			Predef$.MODULE$.genericWrapArray(new Object[] { s, n })));
		LOG.info(new StringOps(Predef$.MODULE$.augmentString("old %s of %d")) //= info: old {} of {}
				 .format(Predef$.MODULE$.genericWrapArray(new Object[] { s, n })));
		LOG.warn(new StringContext(Predef$.MODULE$.genericWrapArray( //= warn: task {} on {}.
					   new String[] { "task ", " on ", "." }))
				 .s(Predef$.MODULE$.genericWrapArray(new Object[] { n, s })));
	}
}
