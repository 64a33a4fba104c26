package modern;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* What Java got after 8: records, switch expressions, patterns, text blocks, sealed types. */
class Modern {
	private static final Logger LOG = LoggerFactory.getLogger(Modern.class);

	record Point(int x, int y) {
	}

	record Named(String name) {
		@Override
		public String toString() {
			return "<" + name + ">";
		}
	}

	sealed interface Shape permits Square, Circle {
	}

	record Square(int side) implements Shape {
		@Override
		public String toString() {
			return "square of " + side;
		}
	}

	record Circle(int radius) implements Shape {
		@Override
		public String toString() {
			return "circle of " + radius;
		}
	}

	enum Day { MON, TUE }

	void all(Point p, Named n, Object o, Shape s, Day d, int i) {
		LOG.info("point " + p); //= info: point Point[x={Modern$Point.x:integer}, y={Modern$Point.y:integer}] | point {}
		LOG.info("named {}", n); //= info: named <{Modern$Named.name}>
		LOG.info("shape " + s); //= info: shape square of {} | shape circle of {} | shape {}
		if (o instanceof Named m)
			LOG.info("pattern " + m.name()); //= info: pattern {Modern$Named.name}
		String word = switch (i) {
			case 1 -> "one";
			case 2, 3 -> "few";
			default -> "lots " + i;
		};
		LOG.info("switch " + word); //= info: switch one | switch few | switch lots {}
		LOG.info(switch (d) { case MON -> "monday"; case TUE -> "tuesday"; }); //= info: monday | tuesday
		LOG.info("""
			block %d
			text""".formatted(i)); //= info@-2: block {}\ntext
		var b = new StringBuilder("var ").append(i);
		LOG.info("{}", b); //= info: var {}
		LOG.info("formatted %s".formatted(n)); //= info: formatted <{}>
	}
}
