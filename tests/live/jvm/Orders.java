import java.io.File;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Orders that go over a queue to one of two workers, and what the program measured of each of them itself, for tests/variance/check:
 * how long it lay in the queue, and how long both parts of the work took, of which one has two speeds.
 *
 * usage: java Orders queue|flat|sort TRUTH.csv STOP|NUMBER
 *
 * flat: as queue, without the worker's method around the parts. sort: no queue; one part takes as long as it has rows, the other as
 * long as it likes.
 *
 * Goes on until the file STOP is there, or for so many orders. A number, a text, a box and an object say which order it is; texts and boxes are made anew
 * wherever one is told, so that only what they say is the same.
 */
public class Orders {
	static final BlockingQueue<Order> queue = new LinkedBlockingQueue<>();
	static final List<Order> orders = new ArrayList<>();
	static final long WALL = wall();
	static volatile long sink;

	static class Order {
		final int id;
		long from, queued, total, waited, checked, settled;

		Order(int id) {
			this.id = id;
		}

		int getId() {
			return id;
		}

		@Override
		public String toString() {
			return text(id);
		}

		/** Whom everybody takes for the same: only who it is tells it from others. */
		@Override
		public boolean equals(Object o) {
			return o instanceof Order;
		}

		@Override
		public int hashCode() {
			return 1;
		}
	}

	static void burn(long ns) {
		for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
			sink++;
	}

	static void rest(long ns) {
		for (long until = System.nanoTime() + ns, left = ns; left > 0; left = until - System.nanoTime())
			LockSupport.parkNanos(left);
	}

	static String text(int id) {
		return "order " + id;
	}

	static Integer box(int id) {
		return Integer.valueOf(id);
	}

	// --- marks --------------------------------------------------------------------------------------

	static void begin(int id, String name, Order o) {
		o.from = System.nanoTime();
		enqueue(o);
	}

	static void enqueue(Order o) {
		o.queued = System.nanoTime();
		queue.add(o);
	}

	static Order dequeue() throws InterruptedException {
		Order o = queue.take();
		o.waited = System.nanoTime() - o.queued;
		return o;
	}

	/** A method may change its arguments. */
	static void end(Integer id, Object name, Object o) {
		((Order) o).total = System.nanoTime() - ((Order) o).from;
		id = null;
		name = null;
		o = null;
	}

	// --- work ---------------------------------------------------------------------------------------

	static void check(Order o, Random dice) {
		long from = System.nanoTime();
		burn(50_000 + dice.nextInt(50_000));
		o.checked = System.nanoTime() - from;
	}

	static void settle(Order o, Random dice) {
		long from = System.nanoTime();
		rest(dice.nextInt(4) == 0 ? 4_000_000 : 300_000);
		o.settled = System.nanoTime() - from;
	}

	static void work(Order o, Random dice) {
		check(o, dice);
		settle(o, dice);
	}

	static void serve(boolean isFlat, Random dice) throws InterruptedException {
		while (true) {
			Order o = dequeue();
			if (isFlat) {
				check(o, dice);
				settle(o, dice);
			} else {
				work(o, dice);
			}
			end(box(o.id), text(o.id), o);
		}
	}

	static void sort(Order o, int rows) {
		long from = System.nanoTime();
		while (rows-- > 0)
			burn(20_000);
		o.checked = System.nanoTime() - from;
	}

	static void wander(Order o, int rows, Random dice) {
		long from = System.nanoTime();
		rest(500_000 + dice.nextInt(5_000_000));
		o.settled = System.nanoTime() - from;
	}

	static void process(Order o, Random dice) {
		o.from = System.nanoTime();
		sort(o, 10 + dice.nextInt(300));
		wander(o, 10 + dice.nextInt(300), dice);
		o.total = System.nanoTime() - o.from;
	}

	// --- around them --------------------------------------------------------------------------------

	static void hire(boolean isFlat, int seed) {
		Thread t = new Thread(() -> {
			try {
				serve(isFlat, new Random(seed));
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		t.setDaemon(true);
		t.start();
	}

	static String names(String reason) {
		switch (reason) {
		case "queue":
			return "/wait:queue,/Orders.work/Orders.check,/Orders.work/Orders.settle";
		case "flat":
			return "/wait:queue,/Orders.check,/Orders.settle";
		default:
			return "/Orders.sort,/Orders.wander";
		}
	}

	static void tell(String reason, String path) throws Exception {
		try (PrintWriter out = new PrintWriter(path)) {
			out.println("begin,total," + names(reason));
			for (Order o : orders) {
				if (o.total == 0)
					continue;
				out.print((o.from + WALL) + "," + o.total + ",");
				out.println((reason.equals("sort") ? "" : o.waited + ",") + o.checked + "," + o.settled);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		String reason = args[0];
		File stop = new File(args[2]);
		Random dice = new Random(7);

		for (int i = 0; i < 2 && !reason.equals("sort"); i++)
			hire(reason.equals("flat"), i + 3);
		System.out.println("ready");
		int most = args[2].matches("\\d+") ? Integer.parseInt(args[2]) : Integer.MAX_VALUE;
		for (int id = 1000; id - 1000 < most && (id % 16 != 0 || !stop.exists()); id++) {
			Order o = new Order(id);
			orders.add(o);
			if (reason.equals("sort"))
				process(o, dice);
			else
				begin(id, text(id), o);
			// in bursts, so that a queue builds up
			rest(dice.nextInt(6) == 0 ? 4_000_000 + dice.nextInt(4_000_000) : 300_000 + dice.nextInt(600_000));
		}
		rest(200_000_000);
		tell(reason, args[1]);
		System.out.println("done");
		System.exit(0);
	}

	/** As in Varies. */
	static long wall() {
		long wall = 0, least = Long.MAX_VALUE;
		for (int i = 0; i < 100; i++) {
			Instant was = Instant.now(), now;
			long before;
			do {
				before = System.nanoTime();
				now = Instant.now();
			} while (now.equals(was));
			long after = System.nanoTime();
			if (after - before >= least)
				continue;
			least = after - before;
			wall = now.getEpochSecond() * 1_000_000_000L + now.getNano() - before;
		}
		return wall;
	}
}
