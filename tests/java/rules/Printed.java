package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Objects as they print themselves: fields, parents, parts, classes below. */
class Printed {
	private static final Logger LOG = LoggerFactory.getLogger(Printed.class);

	static class Block {
		long id;
		long stamp;

		String name() {
			return "blk_" + id;
		}

		@Override
		public String toString() {
			return name() + "_" + stamp;
		}
	}

	static class Extended {
		String pool;
		Block block;

		@Override
		public String toString() {
			return pool + ":" + block;
		}
	}

	static class Silent extends Block {
	}

	static class Plain {
	}

	static abstract class Shape {
		int size;

		@Override
		public String toString() {
			return getKind() + " of size " + size;
		}

		abstract String getKind();
	}

	static class Round extends Shape {
		@Override
		String getKind() {
			return "circle";
		}
	}

	static class Super {
		int low = 3;

		@Override
		public String toString() {
			return "low=" + low;
		}
	}

	static class Sub extends Super {
		int high;

		@Override
		public String toString() {
			return super.toString() + ",high=" + high;
		}
	}

	void all(Block b, Extended e, Silent s, Plain p, Round r, Sub sub) {
		LOG.info("block " + b); //= info: block blk_{Printed$Block.id:integer}_{Printed$Block.stamp:integer} | block {}
		LOG.info("extended {}", e); //= info: extended {Printed$Extended.pool:text}:blk_{Printed$Block.id:integer}_{Printed$Block.stamp:integer} | extended {}
		LOG.info("inherited " + s.toString()); //= info: inherited blk_{Printed$Block.id}_{Printed$Block.stamp}
		LOG.info("plain " + p); //= info: plain {}
		LOG.info("template " + r); //= info: template circle of size {} || template {} of size {}
		LOG.info("super " + sub); //= info: super low={Printed$Super.low},high={Printed$Sub.high}
		LOG.info("value " + String.valueOf(b)); //= info: value blk_{Printed$Block.id}_{Printed$Block.stamp}
		LOG.info(String.format("format %s", b)); //= info: format blk_{Printed$Block.id}_{Printed$Block.stamp}
	}

	interface Id {
	}

	static class AppId implements Id {
		int n;

		@Override
		public String toString() {
			return "application_" + n;
		}
	}

	static class TaskId implements Id {
		int n;

		@Override
		public String toString() {
			return "task_" + n;
		}
	}

	void below(Id id) {
		LOG.info("either " + id); //= info: either application_{Printed$AppId.n} | either task_{Printed$TaskId.n} | either {}
	}

	static Id make(boolean b) {
		return b ? new AppId() : new TaskId();
	}

	/* an endless toString() must end somewhere */
	static class Node {
		Node next;
		int value;

		@Override
		public String toString() {
			return value + "->" + next;
		}
	}

	void endless(Node n) {
		LOG.info("list " + n); //= info: *
	}
}
