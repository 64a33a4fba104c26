package rules;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* StringBuilders: in chains, in variables, with branches and loops, handed to others. */
class Builders {
	private static final Logger LOG = LoggerFactory.getLogger(Builders.class);

	void chain(int n, String s) {
		LOG.info(new StringBuilder("begin ").append(n).append(" mid ").append(s).append('!').toString()); //= info: begin {} mid {}!
		LOG.info(new StringBuffer().append("old ").append(n).toString()); //= info: old {}
	}

	void variable(int n, String s) {
		StringBuilder b = new StringBuilder();

		b.append("first ");
		b.append(n);
		b.append(" then ").append(s);
		LOG.info(b.toString()); //= info: first {} then {}
		b.append(" and more");
		LOG.info(b.toString()); //= info: first {} then {} and more
	}

	void branch(int n, String s) {
		StringBuilder b = new StringBuilder("base");

		if (n > 3)
			b.append(" large ").append(n);
		b.append(" end ").append(s);
		LOG.info(b.toString()); //= info: base large {} end {} | base end {} || base{*} end {}
	}

	void loop(List<String> all) {
		StringBuilder b = new StringBuilder("members:");

		for (String s : all)
			b.append(' ').append(s);
		b.append('.');
		LOG.info(b.toString()); //= info: members:{*}.
	}

	void handed(int n) {
		StringBuilder b = new StringBuilder("begin ");

		fill(b, n);
		b.append(" end");
		LOG.info(b.toString()); //= info: begin {} end || begin filled {} end || begin {*} end
	}

	private void fill(StringBuilder b, int n) {
		b.append("filled ").append(n);
	}

	void object(int n) {
		StringBuilder b = new StringBuilder("as object ").append(n);

		LOG.info("{}", b); //= info: as object {}
	}
}
