package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* In which order statements come: Figure 8 of the paper, and every other shape of code. */
//@ order Orders.figure: first: log1; log1 -> log2+log3*; log2+log3* -> log4; last: log4
//@ order Orders.branch: first: before; before -> then, else; then -> after; else -> after; last: after
//@ order Orders.maybe: first: guarded, always; guarded -> always; last: always
//@ order Orders.caught: first: tried, caught!; tried -> caught!, done; caught! -> done; last: done
//@ order Orders.ends: first: early, late; last: early, late
//@ order Orders.outer: first: out1; out1 -> in1; in1 -> in2; in2 -> out2; last: out2
//@ order Orders.recursive: first: down+up*; last: down+up*
//@ order Orders.ping: first: ping+pong*; last: ping+pong*
//@ order Orders.cases: first: one, zero, other; one -> two; last: two, zero, other
//@ order Orders.starts: first: start; start -> started; last: started
class Orders {
	private static final Logger LOG = LoggerFactory.getLogger(Orders.class);

	void figure(int n) {
		LOG.info("log1"); //= info: log1
		for (int i = 0; i < n; i++) {
			if (i % 2 == 0)
				LOG.info("log2"); //= info: log2
			else
				LOG.info("log3"); //= info: log3
		}
		LOG.info("log4"); //= info: log4
	}

	void branch(boolean b) {
		LOG.info("before"); //= info: before
		if (b)
			LOG.info("then"); //= info: then
		else
			LOG.info("else"); //= info: else
		LOG.info("after"); //= info: after
	}

	void maybe(int n) {
		if (n > 0)
			LOG.info("guarded"); //= info: guarded
		LOG.info("always"); //= info: always
	}

	void caught(String s) {
		try {
			Integer.parseInt(s);
			LOG.info("tried"); //= info: tried
		} catch (NumberFormatException e) {
			LOG.warn("caught"); //= warn: caught
		}
		LOG.info("done"); //= info: done
	}

	int ends(int n) {
		if (n > 0) {
			LOG.info("early"); //= info: early
			return 1;
		}
		LOG.info("late"); //= info: late
		return 2;
	}

	void outer() {
		LOG.info("out1"); //= info: out1
		inner();
		LOG.info("out2"); //= info: out2
	}

	private void inner() {
		LOG.info("in1"); //= info: in1
		LOG.info("in2"); //= info: in2
	}

	void recursive(int n) {
		LOG.info("down"); //= info: down
		if (n > 0)
			recursive(n - 1);
		LOG.info("up"); //= info: up
	}

	void ping(int n) {
		LOG.info("ping"); //= info: ping
		if (n > 0)
			pong(n - 1);
	}

	void pong(int n) {
		LOG.info("pong"); //= info: pong
		ping(n);
	}

	void cases(int n) {
		switch (n) {
		case 0:
			LOG.info("zero"); //= info: zero
			break;
		case 1:
			LOG.info("one"); //= info: one
			LOG.info("two"); //= info: two
			break;
		default:
			LOG.info("other"); //= info: other
		}
	}

	void starts() {
		LOG.info("start"); //= info: start
		new Thread(() -> LOG.info("elsewhere")).start(); //> start Orders.lambda$starts$* //= info: elsewhere
		LOG.info("started"); //= info: started
	}
}
