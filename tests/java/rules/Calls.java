package rules;

import java.util.List;
import java.util.function.Function;

/* Where a call may lead: interfaces, classes below, parents, lambdas, references, bridges. */
class Calls {
	interface Shape {
		int area();

		default int twice() {
			return 2 * area(); //> call Calls$Square.area //> call Calls$Circle.area //> no call Calls$Never.area
		}
	}

	static class Square implements Shape {
		@Override
		public int area() {
			return 1;
		}
	}

	static class Circle implements Shape {
		@Override
		public int area() {
			return 3;
		}

		@Override
		public int twice() {
			return Shape.super.twice(); //> call Calls$Shape.twice
		}
	}

	/* no object of it is ever made */
	static class Never implements Shape {
		@Override
		public int area() {
			return 0;
		}
	}

	static abstract class Base {
		void work() {
			step(); //> call Calls$Own.step //> call Calls$Base.step
		}

		void step() {}
	}

	static class Own extends Base {
		@Override
		void step() {
			super.step(); //> call Calls$Base.step //> no call Calls$Own.step
		}
	}

	static class Heir extends Base {
	}

	interface Maker<T> {
		T make(String s);
	}

	static class Number implements Maker<Integer> {
		@Override
		public Integer make(String s) {
			return s.length();
		}
	}

	static int helper(int n) {
		return n;
	}

	int all(Shape s, Base b, Maker<?> m, List<Integer> list) {
		s.area(); //> call Calls$Square.area //> call Calls$Circle.area //> no call Calls$Never.area
		b.work(); //> call Calls$Base.work
		m.make("x"); //> call Calls$Number.make
		new Heir().step(); //> call Calls$Base.step //> no call Calls$Own.step
		list.forEach(n -> helper(n)); //> call Calls.lambda$all$*
		Function<Integer, Integer> f = Calls::helper; //> call Calls.helper
		return f.apply(helper(2)); //> call Calls.helper
	}

	static void objects() {
		new Square();
		new Circle();
		new Own();
		new Number();
	}
}
