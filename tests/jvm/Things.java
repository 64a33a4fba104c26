import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** What test_path.c evaluates expressions of. */
class Base {
	private String hidden = "of the base";
	private int secret = 7;
	String name = "base";

	private String getPrivate() {
		return "private of the base";
	}
}

interface Sized {
	default int getSize() {
		return 42;
	}

	Object getKind();
}

public class Things extends Base implements Sized {
	enum State {
		RUNNING {
			@Override
			public String toString() {
				return "not this";
			}
		},
		DONE
	}

	static class Node {
		final int id;
		final Node next;
		private final Object payload;

		Node(int id, Node next) {
			this.id = id;
			this.next = next;
			this.payload = "payload " + id;
		}

		int getId() {
			return id;
		}

		int getOdd() {
			if (id % 2 == 0)
				throw new IllegalStateException("even");
			return id;
		}

		@Override
		public String toString() {
			return "node" + id;
		}
	}

	static class Broken {
		int x = 1;

		@Override
		public String toString() {
			throw new UnsupportedOperationException();
		}
	}

	static class Silent {
		@Override
		public String toString() {
			return null;
		}
	}

	/** Says when it is initialised. */
	static class Late {
		int x;

		static {
			lateIsThere = true;
		}
	}

	static class WithLength {
		Node length = new Node(9, null);
	}

	public interface Named {
		String getName();
	}

	static boolean lateIsThere;
	static int ofAll = 3;

	String name = "things";
	int i = -5;
	long j = Long.MIN_VALUE;
	short s = -3;
	byte b = -1;
	char c = '\u00e9';
	char half = '\ud83d';
	boolean z = true;
	float f = 0.5f;
	double d = 0.1;
	Integer boxed = 1234;
	Long boxedLong = -1L;
	Byte boxedByte = 1;
	Double boxedDouble = 2.5;
	Float boxedFloat = 0.25f;
	Boolean boxedBoolean = false;
	Character boxedChar = 'x';
	AtomicLong counter = new AtomicLong(99);
	Object any = "any";
	Object anyArray = new int[] { 1, 2 };
	Object nothing = null;
	Late late = null;
	State state = State.RUNNING;
	int[] ints = { 1, -2, 3 };
	long[] longs = { 1L << 40 };
	double[] doubles = { 0.1, 1e300, 2 };
	float[] floats = { 0.5f };
	boolean[] flags = { true, false };
	byte[] bytes = { 1, -1 };
	char[] chars = { 'a', '\u00e9' };
	short[] shorts = { -7 };
	int[] many = new int[1000];
	String[][] grid = { { "a", "b" }, {}, { "c", null } };
	Node node = new Node(1, new Node(2, new Node(3, null)));
	Node[] nodes = { node, node.next, node.next.next };
	List<Node> list = new ArrayList<>(Arrays.asList(nodes));
	Collection<String> queue = new ArrayDeque<>(Arrays.asList("q1", "q2"));
	List<Object> knot = new ArrayList<>();
	List<Object> empty = new ArrayList<>();
	List<Object> blanks = new ArrayList<>();
	Map<String, Integer> map = new LinkedHashMap<>();
	Broken broken = new Broken();
	Object[] mixed = { 1, "two", broken, null, 3.5 };
	Object[] crookeds = { getCrooked(), 1 };
	Silent silent = new Silent();
	WithLength withLength = new WithLength();
	// 47 bytes and a character of two, of three, and a pair, which is of four
	String two = "0123456789012345678901234567890123456789abcdefg\u00e9";
	String three = "0123456789012345678901234567890123456789abcdef\u20ac";
	String pair = "0123456789012345678901234567890123456789abcd\ud83d\ude00";
	String pairCut = "0123456789012345678901234567890123456789abcde\ud83d\ude00";
	String exact = "0123456789012345678901234567890123456789abcdefgh";
	String longer = exact + "i";

	Things() {
		knot.add(knot);
		map.put("a", 1);
		map.put("b", 2);
		for (int k = 0; k < 200; k++)
			blanks.add(new Object[0]);
	}

	public String getName() {
		return "getter";
	}

	@Override
	public String getKind() {
		return "covariant";
	}

	void nothing() {
		throw new AssertionError("called");
	}

	static int shared() {
		return 1;
	}

	int withArgument(int k) {
		return k;
	}

	String fails() {
		throw new IllegalArgumentException("no");
	}

	Collection<Object> getCrooked() {
		List<Object> l = new ArrayList<>(Arrays.asList(1, 2));
		return new java.util.AbstractCollection<Object>() {
			@Override
			public java.util.Iterator<Object> iterator() {
				java.util.Iterator<Object> it = l.iterator();
				it.next();
				l.add(3);
				return it;
			}

			@Override
			public int size() {
				return 2;
			}
		};
	}

	boolean isReady() {
		return true;
	}

	float getFloat() {
		return 1.5f;
	}

	double getDouble() {
		return -2.25;
	}

	char getChar() {
		return 'q';
	}

	byte getByte() {
		return -8;
	}

	short getShort() {
		return 300;
	}

	long getLong() {
		return 1L << 50;
	}

	int[] getInts() {
		return ints;
	}

	static Things make() {
		return new Things();
	}

	static Things derived() {
		return new Derived();
	}

	static Throwable thrown() {
		return new IllegalStateException("it broke");
	}

	/** Each of a class of its own. */
	static Object[] crowd(int nr) {
		Object[] all = new Object[nr];
		for (int k = 0; k < nr; k++) {
			String name = "n" + k;
			ClassLoader own = new ClassLoader(Things.class.getClassLoader()) {};
			all[k] = Proxy.newProxyInstance(own, new Class<?>[] { Named.class },
					(p, m, a) -> m.getName().equals("toString") ? "I am " + name : name);
			if (k == 0)
				firstOfCrowd = new WeakReference<>(own);
		}
		return all;
	}

	private static WeakReference<ClassLoader> firstOfCrowd;

	static boolean crowdIsGone() throws InterruptedException {
		for (int k = 0; k < 200 && firstOfCrowd.get() != null; k++) {
			System.gc();
			Thread.sleep(10);
		}
		return firstOfCrowd.get() == null;
	}
}

class Derived extends Things {
	String name = "derived";

	@Override
	public String getName() {
		return "derived getter";
	}

	@Override
	public int getSize() {
		return 43;
	}
}
