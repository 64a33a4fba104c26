import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A client of HBase that counts what it asks region servers for.
 *
 * make ROWS: makes the table, half of its rows in each of two regions, which no cache has
 * get|multi|scan|put|async NAME GO TRUTH ROWS OPERATIONS SEED: waits until the file GO is there, does so many operations, writes what it
 * counted to TRUTH, and waits until GO is gone. A line of TRUTH: =QUERY, tab, key, tab, number.
 */
public class HStress {
	static final TableName TABLE = TableName.valueOf("stress");
	static final byte[] FAMILY = Bytes.toBytes("f"), COLUMN = Bytes.toBytes("c");
	static final int BYTES = 2000, BATCH = 8, RANGE = 20, WAIT_MS = 600_000;

	final Connection connection;
	final Table table;
	final RegionLocator where;
	final Map<String, Long> counts = new TreeMap<>();
	final String name, operation;
	final int rows;
	final Random random;

	HStress(Connection connection, String operation, String name, int rows, long seed) throws IOException {
		this.connection = connection;
		this.table = connection.getTable(TABLE);
		this.where = connection.getRegionLocator(TABLE);
		this.operation = operation;
		this.name = name;
		this.rows = rows;
		this.random = new Random(seed);
	}

	static byte[] row(int i) {
		return Bytes.toBytes(String.format("row%06d", i));
	}

	static Put put(int i) {
		return new Put(row(i)).addColumn(FAMILY, COLUMN, new byte[BYTES]);
	}

	void count(String query, long n) {
		counts.merge("=" + query + "\t" + name, n, Long::sum);
	}

	/* Calls to region servers. */
	void called(long n) {
		count("calls", n);
		count("back", n);
	}

	void check(Result r) throws IOException {
		if (r.isEmpty())
			throw new IOException("a row is not there");
	}

	void get() throws IOException {
		check(table.get(new Get(row(random.nextInt(rows)))));
		called(1);
	}

	void async() throws Exception {
		check(ASYNC.getTable(TABLE).get(new Get(row(random.nextInt(rows)))).get());
		called(1);
	}

	/* One call for each server that has some of the rows. */
	void multi() throws IOException {
		List<Get> gets = new ArrayList<>();
		Set<Object> servers = new HashSet<>();

		for (int i = 0; i < BATCH; i++) {
			byte[] row = row(random.nextInt(rows));

			gets.add(new Get(row));
			servers.add(where.getRegionLocation(row).getServerName());
		}
		for (Result r : table.get(gets))
			check(r);
		called(servers.size());
	}

	/* The client of HBase counts its calls itself. */
	void scan() throws IOException {
		Scan scan = new Scan().withStartRow(row(random.nextInt(rows - RANGE))).setLimit(RANGE).setCaching(RANGE / 2).setScanMetricsEnabled(true);
		ScanMetrics metrics;

		scan.setAsyncPrefetch(false);
		try (ResultScanner found = table.getScanner(scan)) {
			int n = 0;

			for (Result r : found) {
				check(r);
				n++;
			}
			if (n != RANGE)
				throw new IOException("rows are missing");
			metrics = found.getScanMetrics();
		}
		called(metrics.countOfRPCcalls.get());
	}

	void put() throws IOException {
		table.put(put(random.nextInt(rows)));
		called(1);
	}

	void doNextOp() throws Exception {
		switch (operation) {
		case "get" -> get();
		case "async" -> async();
		case "multi" -> multi();
		case "scan" -> scan();
		default -> put();
		}
	}

	void tell(String path) throws IOException {
		try (PrintWriter out = new PrintWriter(new FileWriter(path + ".part"))) {
			counts.forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(path + ".part"), Paths.get(path));
	}

	/* So that regions need not be looked for later. */
	void warm() throws Exception {
		for (HRegionLocation l : where.getAllRegionLocations())
			where.getRegionLocation(l.getRegion().getStartKey());
		doNextOp();
		table.get(List.of(new Get(row(0)), new Get(row(rows - 1))));
		if (ASYNC != null)
			for (int i : new int[] { 0, rows - 1 })
				ASYNC.getTable(TABLE).get(new Get(row(i))).get();
		counts.clear();
	}

	static org.apache.hadoop.hbase.client.AsyncConnection ASYNC;

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (Files.exists(Paths.get(path)) != isThere && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	static void make(Connection c, int rows) throws IOException {
		try (Admin admin = c.getAdmin(); Table table = c.getTable(TABLE)) {
			List<Put> puts = new ArrayList<>();

			admin.createTable(
				TableDescriptorBuilder.newBuilder(TABLE)
					.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlockCacheEnabled(false).build())
					.build(),
				new byte[][] { row(rows / 2) });
			for (int i = 0; i < rows; i++)
				puts.add(put(i));
			table.put(puts);
			admin.flush(TABLE);
		}
	}

	public static void main(String[] a) throws Exception {
		Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create());

		if (a[0].equals("make")) {
			make(c, Integer.parseInt(a[1]));
			System.exit(0);
		}
		if (a[0].equals("async"))
			ASYNC = ConnectionFactory.createAsyncConnection(HBaseConfiguration.create()).get();

		HStress t = new HStress(c, a[0], a[1], Integer.parseInt(a[4]), Long.parseLong(a[6]));

		t.warm();
		Files.createFile(Paths.get(a[3] + ".ready"));
		waitFor(a[2], true);
		for (int i = 0, n = Integer.parseInt(a[5]); i < n; i++)
			t.doNextOp();
		t.tell(a[3]);
		waitFor(a[2], false);
		System.exit(0);
	}
}
