import java.io.File;
import java.io.PrintWriter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Orders whose time varies for one planted reason, and what the program measured of it itself, for tests/variance/check.
 *
 * usage: java [-Xlog:safepoint:file=LOG:tn] Varies REASON TRUTH.csv STOP [LOG]
 *
 * Goes on until the file STOP is there, and writes one row for each order: when it began, how long it took, and how long each part.
 * For collections of garbage it knows how long it waited, with what it took to get a processor again; TRUTH.csv.logged has what the
 * machine's LOG says they took, without.
 */
public class Varies {
	static final Random dice = new Random(7);
	static final Object book = new Object();
	static final ReentrantLock pen = new ReentrantLock();
	static final List<byte[]> shelf = new ArrayList<>();
	static final long WALL = wall();
	static volatile long sink;

	interface Store {
		void put(long ns) throws Exception;
	}

	static class Memory implements Store {
		public void put(long ns) {
			for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
				sink++;
		}
	}

	static class Disk implements Store {
		public void put(long ns) throws Exception {
			turn(ns);
			write();
		}

		void turn(long ns) {
			for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
				sink++;
		}

		void write() {
			for (long until = System.nanoTime() + 200_000; System.nanoTime() < until;)
				sink++;
		}
	}

	static Store store = new Disk();

	static long someTime(long least, long most) {
		return least + (long) (dice.nextDouble() * (most - least));
	}

	// --- parts of an order ------------------------------------------------------------------------

	static void pick() {
		for (long until = System.nanoTime() + (dice.nextInt(5) == 0 ? 4_000_000 : 500_000); System.nanoTime() < until;)
			sink++;
	}

	static void pack() {
		for (long until = System.nanoTime() + 700_000; System.nanoTime() < until;)
			sink++;
	}

	static void note() {
		synchronized (book) {
			sink++;
		}
	}

	static void sign() {
		pen.lock();
		sink++;
		pen.unlock();
	}

	static void fetch() throws InterruptedException {
		Thread.sleep(dice.nextInt(6));
	}

	/** Every other page is kept for a while: collections take long. Who asks for a page then waits: row[4]. */
	static void write(long[] row) {
		for (int i = 0; i < 200; i++) {
			long from = System.nanoTime(), to;
			byte[] page = new byte[2048];
			to = System.nanoTime();
			if (to - from > 300_000 && collections() != seen) {
				row[4] += to - from;
				seen = collections();
			}
			if (i % 2 == 0)
				shelf.set(dice.nextInt(shelf.size()), page);
			sink += page.length;
		}
	}

	static long seen;

	static long collections() {
		long nr = 0;
		for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
			nr += b.getCollectionCount();
		return nr;
	}

	static void first(long ns) {
		for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
			sink++;
	}

	static void second(long ns) {
		for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
			sink++;
	}

	static void keep(long ns) throws Exception {
		store.put(ns);
	}

	// --- orders: what each part took goes to row, from 2 on ------------------------------------------

	static void part(long[] row, int at, long from) {
		row[at] = System.nanoTime() - from;
	}

	static void order(String reason, long[] row) throws Exception {
		long from = System.nanoTime(), ns = someTime(200_000, 3_000_000), more = someTime(0, 400_000);
		switch (reason) {
		case "method":
			pick();
			break;
		case "lock":
			note();
			break;
		case "pen":
			sign();
			break;
		case "sleep":
			fetch();
			break;
		case "gc":
			write(row);
			break;
		case "makeup":
			first(ns);
			break;
		case "nested":
			keep(ns);
			break;
		default:
			throw new IllegalArgumentException(reason);
		}
		part(row, 2, from);
		from = System.nanoTime();
		if (reason.equals("makeup"))
			second(3_200_000 - ns + more);
		else
			pack();
		part(row, 3, from);
		// of the pages that were written: waiting for a collection is no part of it
		row[2] -= row[4];
	}

	static String[] names(String reason) {
		switch (reason) {
		case "method":
			return new String[] { "/Varies.pick", "/Varies.pack" };
		case "lock":
			return new String[] { "/Varies.note", "/Varies.pack" };
		case "pen":
			return new String[] { "/Varies.sign", "/Varies.pack" };
		case "sleep":
			return new String[] { "/Varies.fetch", "/Varies.pack" };
		case "gc":
			return new String[] { "/Varies.write", "/Varies.pack", "/wait:gc" };
		case "makeup":
			return new String[] { "/Varies.first", "/Varies.second" };
		default:
			return new String[] { "/Varies.keep", "/Varies.pack" };
		}
	}

	// --- around them ----------------------------------------------------------------------------------

	static void hold() {
		Random own = new Random(3);
		while (true) {
			long ns = (long) (own.nextDouble() * 6_000_000);
			pen.lock();
			synchronized (book) {
				for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
					sink++;
			}
			pen.unlock();
			LockSupport.parkNanos(1_000_000 + own.nextInt(4_000_000));
		}
	}

	static void help(String reason) {
		if (reason.equals("gc"))
			for (int i = 0; i < 24_000; i++)
				shelf.add(new byte[2048]);
		if (reason.equals("lock") || reason.equals("pen")) {
			Thread t = new Thread(Varies::hold);
			t.setDaemon(true);
			t.start();
		}
	}

	/** What the machine says of its stops: since when, until when. */
	static List<long[]> stops(String log) throws Exception {
		Pattern line = Pattern.compile("\\[(\\d+)ns\\].* Total: *(\\d+) ns");
		List<long[]> found = new ArrayList<>();
		for (String s : Files.readAllLines(Paths.get(log))) {
			Matcher m = line.matcher(s);
			if (m.find()) {
				long end = Long.parseLong(m.group(1));
				found.add(new long[] { end - Long.parseLong(m.group(2)), end });
			}
		}
		return found;
	}

	/** The order as if it had waited for collections only as long as the machine says. */
	static long[] asLogged(long[] row, List<long[]> stops) {
		long[] r = row.clone();
		long from = r[0], to = r[0] + r[1] - r[3];
		r[2] += r[4];
		r[4] = 0;
		for (long[] s : stops)
			r[4] += Math.max(0, Math.min(to, s[1]) - Math.max(from, s[0]));
		r[2] -= r[4];
		return r;
	}

	static void tell(String path, String reason, List<long[]> rows) throws Exception {
		try (PrintWriter out = new PrintWriter(path)) {
			out.println("begin,total," + String.join(",", names(reason)));
			for (long[] r : rows)
				out.println(line(r, names(reason).length));
		}
	}

	public static void main(String[] args) throws Exception {
		String reason = args[0];
		File stop = new File(args[2]);
		List<long[]> rows = new ArrayList<>();

		help(reason);
		System.out.println("ready");
		while (!stop.exists())
			for (int i = 0; i < 20; i++) {
				long[] row = new long[5];
				row[0] = System.nanoTime();
				order(reason, row);
				row[1] = System.nanoTime() - row[0];
				rows.add(row);
				LockSupport.parkNanos(300_000);
			}
		tell(args[1], reason, rows);
		if (args.length > 3) {
			List<long[]> stops = stops(args[3]), logged = new ArrayList<>();
			for (long[] r : rows)
				logged.add(asLogged(r, stops));
			tell(args[1] + ".logged", reason, logged);
		}
		System.out.println("done");
		System.exit(0);
	}

	static String line(long[] r, int nr) {
		StringBuilder s = new StringBuilder();
		s.append(r[0] + WALL).append(',').append(r[1]);
		for (int i = 0; i < nr; i++)
			s.append(',').append(r[2 + i]);
		return s.toString();
	}

	/** CLOCK_REALTIME less the clock of nanoTime, in ns: of several tries the one that nothing came between. (Where the wall's clock
	 * goes by milliseconds, as that of Java 8, one is begun with.) */
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
