import com.datastax.driver.core.BatchStatement;
import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.HostDistance;
import com.datastax.driver.core.PoolingOptions;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.Statement;
import com.datastax.driver.core.policies.RoundRobinPolicy;
import com.datastax.driver.core.policies.WhiteListPolicy;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * A client of Cassandra whose threads ask one node over one connection, many requests at a time, in all the ways that there are, and
 * that counts what it asks for.
 *
 * ADDRESS make COPIES: makes the tables, of whose rows there are so many copies
 * ADDRESS NAME GO TRUTH ROUNDS THREADS SEED: waits until the file GO is there, does so many rounds in so many threads, and writes what it
 * counted to TRUTH: what, tab, of which table (or kind of request), tab, number. reads and writes are what is done with each copy; "some"
 * before it: what is done with all together. Threads have rows of their own, but for those of table "shared".
 * -Dprotocol=3: in that version of the protocol. -Dreads.propose=true: reads of conditions write something, too (Paxos as it was).
 */
public class CqlKinds {
	static final int KEYS = 64, WINDOW = 32, LARGE = 300_000, WIDE = 60, PAGE = 25, WAIT_MS = 600_000;
	static final String[] TABLES = { "small", "un", "lo", "one", "spec", "cas", "shared" };

	final Session s;
	final int first, rounds;
	final Map<String, Long> counts;
	final Deque<ResultSetFuture> waiting = new ArrayDeque<>();
	int next;

	CqlKinds(Session s, Map<String, Long> counts, int first, int rounds) {
		this.s = s;
		this.counts = counts;
		this.first = first;
		this.rounds = rounds;
	}

	static void make(Session s, String copies) {
		s.execute("create keyspace kinds with replication = {'class': 'SimpleStrategy', 'replication_factor': " + copies + "}");
		for (String t : TABLES)
			s.execute("create table kinds." + t + " (k int primary key, v text)" +
				  " with speculative_retry = '" + (t.equals("spec") ? "ALWAYS" : "NEVER") + "'");
		s.execute("create table kinds.counted (k int primary key, n counter)");
		s.execute("create table kinds.large (k int primary key, v blob)");
		for (String t : new String[] { "wide", "scanned" }) {
			s.execute("create table kinds." + t + " (p int, c int, v text, primary key (p, c))");
			for (int p = 0; p < 4; p++)
				for (int c = 0; c < WIDE; c++)
					s.execute(new SimpleStatement("insert into kinds." + t + " (p, c, v) values (" + p + ", " + c + ", 'x')")
							  .setConsistencyLevel(ConsistencyLevel.ALL));
		}
	}

	void count(String what, String of, long n) {
		counts.merge(what + "\t" + of, n, Long::sum);
	}

	int key() {
		return first + next++ % KEYS;
	}

	/* As many at a time as fit: those of one key are never under way together. */
	void send(Statement q, ConsistencyLevel level) {
		if (waiting.size() == WINDOW)
			waiting.remove().getUninterruptibly();
		asked(!(q instanceof BoundStatement) || isSelect((BoundStatement) q), level, q instanceof BatchStatement ? 0 : 1);
		waiting.add(s.executeAsync(q.setConsistencyLevel(level)));
	}

	static boolean isSelect(BoundStatement q) {
		return q.preparedStatement().getQueryString().startsWith("select");
	}

	/* Statements and their pages, by what they are and what nodes must answer. */
	void asked(boolean isSelect, ConsistencyLevel level, long n) {
		if (n > 0)
			count("levels", (isSelect ? "SELECT " : "UPDATE ") + level, n);
	}

	ResultSet execute(BoundStatement q, ConsistencyLevel level) {
		asked(isSelect(q), level, 1);
		return s.execute(q.setConsistencyLevel(level));
	}

	void settle() {
		while (!waiting.isEmpty())
			waiting.remove().getUninterruptibly();
	}

	PreparedStatement prepare(String text) {
		return s.prepare(text);
	}

	static final Map<String, PreparedStatement> PREPARED = new ConcurrentSkipListMap<>();

	BoundStatement bind(String text, Object... values) {
		return PREPARED.get(text).bind(values);
	}

	static String put(String table) {
		return "insert into kinds." + table + " (k, v) values (?, ?)";
	}

	static String get(String table) {
		return "select v from kinds." + table + " where k = ?";
	}

	static final String LARGE_PUT = "insert into kinds.large (k, v) values (?, ?)", LARGE_GET = "select v from kinds.large where k = ?",
			    COUNTED = "update kinds.counted set n = n + 1 where k = ?", COUNTED_GET = "select n from kinds.counted where k = ?",
			    CAS = "insert into kinds.cas (k, v) values (?, ?) if not exists",
			    CAS_NOT = "update kinds.cas set v = ? where k = ? if v = 'never'", WIDE_GET = "select c, v from kinds.wide where p = ?";

	static void prepareAll(Session s) {
		List<String> texts = new ArrayList<>(List.of(LARGE_PUT, LARGE_GET, COUNTED, COUNTED_GET, CAS, CAS_NOT, WIDE_GET));

		for (String t : TABLES) {
			texts.add(put(t));
			texts.add(get(t));
		}
		for (String t : texts)
			PREPARED.put(t, s.prepare(t));
	}

	void simple(int i) {
		for (int j = 0; j < 8; j++) {
			int k = key();

			if ((i + j) % 2 == 0) {
				send(bind(put("small"), k, "v" + i), ConsistencyLevel.QUORUM);
				count("writes", "small", 1);
			} else {
				send(bind(get("small"), k), j < 4 ? ConsistencyLevel.ALL : ConsistencyLevel.QUORUM);
				count("reads", "small", 1);
			}
			count("requests", "EXECUTE", 1);
		}
		send(new SimpleStatement("select v from kinds.small where k = " + key()), ConsistencyLevel.ALL);
		count("reads", "small", 1);
		count("requests", "QUERY", 1);
	}

	void one(int i) {
		send(bind(put("one"), key(), "v" + i), ConsistencyLevel.ONE);
		count("writes", "one", 1);
		send(bind(get("one"), key()), ConsistencyLevel.ONE);
		count("somereads", "one", 1);
		send(bind(get("spec"), key()), ConsistencyLevel.ONE);
		count("reads", "spec", 1);
		count("requests", "EXECUTE", 3);
	}

	/* The partitions of a batch are one write each. */
	void batches(int i) {
		for (boolean isLogged : new boolean[] { true, false }) {
			BatchStatement b = new BatchStatement(isLogged ? BatchStatement.Type.LOGGED : BatchStatement.Type.UNLOGGED);
			int n = 2 + i % 4;

			count("batches", isLogged ? "LOGGED" : "UNLOGGED", n);
			for (int j = 0; j < n; j++)
				b.add(bind(put(isLogged ? "lo" : "un"), key(), "v" + i));
			send(b, ConsistencyLevel.ALL);
			count("writes", isLogged ? "lo" : "un", n);
			count("requests", "BATCH", 1);
		}
	}

	void counters(int i) {
		send(bind(COUNTED, key()), ConsistencyLevel.ALL);
		count("writes", "counted", 1);
		send(bind(COUNTED_GET, key()), ConsistencyLevel.ALL);
		count("reads", "counted", 1);
		count("requests", "EXECUTE", 2);
	}

	/* Each looks at the row first; what is not so is not written. */
	void conditions(int i) {
		int k = 1_000_000 + first * 1_000 + i;

		settle();
		execute(bind(CAS, k, "v"), ConsistencyLevel.ALL);
		count("writes", "cas", 1);
		execute(bind(CAS_NOT, "w", k), ConsistencyLevel.ALL);
		execute(bind(get("cas"), k), ConsistencyLevel.SERIAL);
		count("reads", "cas", 3);
		count("prepared", "cas", 3);
		count("proposed", "cas", Boolean.getBoolean("reads.propose") ? 3 : 2);
		count("requests", "EXECUTE", 3);
	}

	void large(int i) {
		int k = key();
		ByteBuffer v = ByteBuffer.allocate(LARGE);

		settle();
		execute(bind(LARGE_PUT, k, v), ConsistencyLevel.ALL);
		count("writes", "large", 1);
		execute(bind(LARGE_GET, k), ConsistencyLevel.ALL);
		count("reads", "large", 1);
		count("requests", "EXECUTE", 2);
	}

	/* Pages of a partition, each a request of its own. */
	void pages(int i) {
		int n = s.execute(bind(WIDE_GET, i % 4).setFetchSize(PAGE).setConsistencyLevel(ConsistencyLevel.ALL)).all().size();

		if (n != WIDE)
			throw new IllegalStateException("rows are missing: " + n);
		asked(true, ConsistencyLevel.ALL, (WIDE + PAGE - 1) / PAGE);
		count("rows", "wide", n);
		count("reads", "wide", (WIDE + PAGE - 1) / PAGE);
		count("requests", "EXECUTE", (WIDE + PAGE - 1) / PAGE);
	}

	/* Of all partitions: how often nodes look into theirs is up to them. */
	void scan(int i) {
		int n = s.execute(new SimpleStatement("select * from kinds.scanned").setFetchSize(PAGE * 2).setConsistencyLevel(ConsistencyLevel.QUORUM))
				.all()
				.size();

		if (n != 4 * WIDE)
			throw new IllegalStateException("rows are missing: " + n);
		count("requests", "QUERY", (4 * WIDE + PAGE * 2 - 1) / (PAGE * 2));
		asked(true, ConsistencyLevel.QUORUM, (4 * WIDE + PAGE * 2 - 1) / (PAGE * 2));
		count("rows", "scanned", n);
	}

	/* Of rows that others write, nodes may have different ones, which they mend. */
	void shared(int i) {
		send(bind(put("shared"), i % 3, "v" + first + "." + i), ConsistencyLevel.ONE);
		send(bind(get("shared"), i % 3), ConsistencyLevel.ALL);
		count("requests", "EXECUTE", 2);
	}

	void work() {
		for (int i = 0; i < rounds; i++) {
			simple(i);
			one(i);
			batches(i);
			counters(i);
			shared(i);
			if (i % 4 == 0) {
				conditions(i);
				pages(i);
			}
			if (i % 16 == 0)
				large(i);
			if (i % 16 == 8)
				scan(i);
		}
		settle();
	}

	static void waitFor(String path) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (!Files.exists(Paths.get(path)) && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	static void run(Session s, String[] a) throws Exception {
		Map<String, Long> counts = new ConcurrentSkipListMap<>();
		List<Thread> threads = new ArrayList<>();
		int rounds = Integer.parseInt(a[4]), nr = Integer.parseInt(a[5]), seed = Integer.parseInt(a[6]);

		prepareAll(s);
		Files.createFile(Paths.get(a[3] + ".ready"));
		waitFor(a[2]);
		for (int i = 0; i < nr; i++)
			threads.add(new Thread(new CqlKinds(s, counts, (seed * 100 + i) * KEYS, rounds)::work));
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		try (PrintWriter out = new PrintWriter(new FileWriter(a[3] + ".part"))) {
			counts.forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(a[3] + ".part"), Paths.get(a[3]));
	}

	public static void main(String[] a) throws Exception {
		PoolingOptions pool = new PoolingOptions().setConnectionsPerHost(HostDistance.LOCAL, 1, 1).setMaxRequestsPerConnection(HostDistance.LOCAL, 2048);
		Cluster.Builder builder = Cluster.builder()
					  .addContactPointsWithPorts(new InetSocketAddress(a[0], 9042))
					  .withLoadBalancingPolicy(new WhiteListPolicy(new RoundRobinPolicy(), List.of(new InetSocketAddress(a[0], 9042))))
					  .withPoolingOptions(pool)
					  .withoutJMXReporting();
		Cluster cluster;

		if (Integer.getInteger("protocol") != null)
			builder.withProtocolVersion(ProtocolVersion.fromInt(Integer.getInteger("protocol")));
		cluster = builder.build();
		cluster.getConfiguration().getSocketOptions().setReadTimeoutMillis(60_000);
		if (a[1].equals("make"))
			make(cluster.connect(), a[2]);
		else
			run(cluster.connect(), a);
		System.exit(0);
	}
}
