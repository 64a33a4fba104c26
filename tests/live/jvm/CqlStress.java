import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.QueryOptions;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.policies.RoundRobinPolicy;
import com.datastax.driver.core.policies.WhiteListPolicy;
import java.io.FileWriter;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A client of Cassandra that asks one node, and counts what it asks for.
 *
 * ADDRESS make: makes two tables, of which each node has all rows
 * ADDRESS NAME GO TRUTH OPERATIONS SEED: waits until the file GO is there, reads and writes so often, all nodes each time, and writes what
 * it counted to TRUTH: reads or writes, table, number. Each SEED has rows of its own: of a row that another client writes just then nodes
 * answer differently, and Cassandra reads it once more (read repair), which the client does not know.
 */
public class CqlStress {
	static final int KEYS = 50, CLIENTS = 3, WAIT_MS = 600_000;

	static void make(Session s) {
		s.execute("create keyspace stress with replication = {'class': 'SimpleStrategy', 'replication_factor': 2}");
		for (String table : List.of("cats", "dogs")) {
			s.execute("create table stress." + table + " (k int primary key, v text)");
			for (int k = 0; k < CLIENTS * KEYS; k++)
				s.execute("insert into stress." + table + " (k, v) values (" + k + ", 'some')");
		}
	}

	static void waitFor(String path) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (!Files.exists(Paths.get(path)) && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	static Map<String, Long> work(Session s, int operations, int first, Random random) {
		Map<String, Long> counts = new TreeMap<>();

		for (int i = 0; i < operations; i++) {
			String table = random.nextInt(3) > 0 ? "cats" : "dogs";
			int k = first + random.nextInt(KEYS);
			boolean isRead = random.nextBoolean();

			s.execute(isRead ? "select v from stress." + table + " where k = " + k
					 : "insert into stress." + table + " (k, v) values (" + k + ", 'other')");
			counts.merge((isRead ? "reads\t" : "writes\t") + table, 1L, Long::sum);
		}
		return counts;
	}

	public static void main(String[] a) throws Exception {
		Cluster cluster = Cluster.builder()
					  .addContactPointsWithPorts(new InetSocketAddress(a[0], 9042))
					  .withLoadBalancingPolicy(new WhiteListPolicy(new RoundRobinPolicy(), List.of(new InetSocketAddress(a[0], 9042))))
					  .withQueryOptions(new QueryOptions().setConsistencyLevel(ConsistencyLevel.ALL))
					  .withoutJMXReporting()
					  .build();
		Session s = cluster.connect();

		s.getCluster().getConfiguration().getSocketOptions().setReadTimeoutMillis(60_000);
		if (a[1].equals("make")) {
			make(s);
			System.exit(0);
		}
		waitFor(a[2]);
		try (PrintWriter out = new PrintWriter(new FileWriter(a[3] + ".part"))) {
			int seed = Integer.parseInt(a[5]);

			work(s, Integer.parseInt(a[4]), seed * KEYS, new Random(seed)).forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(a[3] + ".part"), Paths.get(a[3]));
		System.exit(0);
	}
}
