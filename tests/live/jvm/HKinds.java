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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A client of HBase with several threads that counts the calls to region servers it makes.
 *
 * make ROWS: makes two tables of two regions each: what is read, which no cache has, and one that is filled
 * read|change|async|fill NAME GO TRUTH ROWS ROUNDS THREADS SEED: waits until the file GO is there, does so many rounds in each thread,
 * writes what it counted to TRUTH, and waits until GO is gone. A line of TRUTH: =QUERY, tab, key, tab, number.
 */
public class HKinds {
	static final TableName READ = TableName.valueOf("stress"), FILLED = TableName.valueOf("filled");
	static final byte[] FAMILY = Bytes.toBytes("f"), COLUMN = Bytes.toBytes("c"), NUMBER = Bytes.toBytes("n");
	static final int BYTES = 2000, LARGE = 20_000, BATCH = 6, RANGE = 24, WAIT_MS = 600_000;
	static final long FLUSHED = 1 << 20;
	static final String NEVER_SPLIT = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";

	static Connection connection;
	static AsyncConnection async;
	static final Map<String, Long> counts = new ConcurrentSkipListMap<>();

	final Table table, filled;
	final AsyncTable<?> other;
	final RegionLocator where;
	final String name, operation;
	final int rows, rounds;
	final Random random;

	HKinds(String operation, String name, int rows, int rounds, long seed) throws IOException {
		this.table = connection.getTable(READ);
		this.filled = connection.getTable(FILLED);
		this.other = async.getTable(READ);
		this.where = connection.getRegionLocator(READ);
		this.operation = operation;
		this.name = name;
		this.rows = rows;
		this.rounds = rounds;
		this.random = new Random(seed);
	}

	static byte[] row(int i) {
		return Bytes.toBytes(String.format("row%06d", i));
	}

	static Put put(int i, int bytes) {
		return new Put(row(i)).addColumn(FAMILY, COLUMN, new byte[bytes]);
	}

	byte[] any() {
		return row(random.nextInt(rows));
	}

	void called(long n) {
		counts.merge("=calls\t" + name, n, Long::sum);
		counts.merge("=back\t" + name, n, Long::sum);
	}

	/* One call for each server that has some of the rows. */
	long servers(List<? extends Row> of) throws IOException {
		Set<Object> servers = new HashSet<>();

		for (Row r : of)
			servers.add(where.getRegionLocation(r.getRow()).getServerName());
		return servers.size();
	}

	List<Get> gets() {
		List<Get> gets = new ArrayList<>();

		for (int i = 0; i < BATCH; i++)
			gets.add(new Get(any()));
		return gets;
	}

	static void check(Result r) throws IOException {
		if (r.isEmpty())
			throw new IOException("a row is not there");
	}

	/* The client of HBase counts its calls itself. */
	void scanned(ResultScanner found) throws IOException {
		int n = 0;

		try (found) {
			for (Result r : found) {
				check(r);
				n++;
			}
			called(found.getScanMetrics().countOfRPCcalls.get());
		}
		if (n != RANGE)
			throw new IOException("rows are missing");
	}

	Scan scan(boolean isReversed) {
		Scan s = new Scan().setLimit(RANGE).setCaching(RANGE / 3).setScanMetricsEnabled(true).setReversed(isReversed);

		s.setAsyncPrefetch(false);
		return s.withStartRow(row(isReversed ? RANGE + random.nextInt(rows - RANGE) : random.nextInt(rows - RANGE)));
	}

	void read() throws Exception {
		List<Get> gets = gets();

		check(table.get(new Get(any())));
		if (!table.exists(new Get(any())))
			throw new IOException("a row is not there");
		called(2);
		for (Result r : table.get(gets))
			check(r);
		called(servers(gets));
		scanned(table.getScanner(scan(false)));
		scanned(table.getScanner(scan(true)));
	}

	/* Many of these look at the row first. */
	void change() throws Exception {
		byte[] k = any();
		List<Row> mixed = new ArrayList<>();

		table.put(new Put(k).addColumn(FAMILY, COLUMN, new byte[BYTES]));
		table.increment(new Increment(any()).addColumn(FAMILY, NUMBER, 1));
		table.append(new Append(any()).addColumn(FAMILY, Bytes.toBytes("a"), new byte[3]));
		table.checkAndMutate(CheckAndMutate.newBuilder(k).ifNotExists(FAMILY, Bytes.toBytes("z")).build(new Put(k).addColumn(FAMILY, Bytes.toBytes("y"), k)));
		table.mutateRow(RowMutations.of(List.of(new Put(k).addColumn(FAMILY, NUMBER, Bytes.toBytes(7L)), new Delete(k).addColumns(FAMILY, Bytes.toBytes("y")))));
		table.delete(new Delete(any()).addColumns(FAMILY, Bytes.toBytes("a")));
		called(6);
		mixed.add(new Get(any()));
		mixed.add(put(random.nextInt(rows), BYTES));
		mixed.add(new Delete(any()).addColumns(FAMILY, Bytes.toBytes("y")));
		mixed.add(new Increment(any()).addColumn(FAMILY, NUMBER, 2));
		table.batch(mixed, new Object[mixed.size()]);
		called(servers(mixed));
	}

	void async() throws Exception {
		List<Get> gets = gets();
		List<CompletableFuture<Result>> many = new ArrayList<>();

		for (int i = 0; i < BATCH; i++)
			many.add(other.get(new Get(any())));
		for (CompletableFuture<Result> f : many)
			check(f.get());
		called(BATCH);
		for (Result r : other.getAll(gets).get())
			check(r);
		called(servers(gets));
		other.put(put(random.nextInt(rows), BYTES)).thenCompose(x -> other.get(new Get(any()))).get();
		called(2);
		if (other.scanAll(new Scan().withStartRow(row(random.nextInt(rows / 2 - RANGE))).setLimit(RANGE)).get().size() != RANGE)
			throw new IOException("rows are missing");
		called(1);
	}

	void fill() throws Exception {
		filled.put(put(random.nextInt(rows), LARGE));
		called(1);
	}

	void doNextOp() throws Exception {
		switch (operation) {
		case "read" -> read();
		case "change" -> change();
		case "async" -> async();
		default -> fill();
		}
	}

	void work() {
		try {
			for (int i = 0; i < rounds; i++)
				doNextOp();
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	/* So that regions need not be looked for later. */
	void warm() throws Exception {
		for (HRegionLocation l : where.getAllRegionLocations())
			where.getRegionLocation(l.getRegion().getStartKey());
		doNextOp();
		for (int i : new int[] { 0, rows - 1 }) {
			check(table.get(new Get(row(i))));
			filled.exists(new Get(row(i)));
			check(other.get(new Get(row(i))).get());
		}
		counts.clear();
	}

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (Files.exists(Paths.get(path)) != isThere && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	static void make(int rows) throws IOException {
		try (Admin admin = connection.getAdmin(); Table table = connection.getTable(READ)) {
			List<Put> puts = new ArrayList<>();

			for (TableName t : new TableName[] { READ, FILLED }) {
				TableDescriptorBuilder b = TableDescriptorBuilder.newBuilder(t).setColumnFamily(
					ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlockCacheEnabled(false).build());

				if (t == FILLED)
					b.setMemStoreFlushSize(FLUSHED).setRegionSplitPolicyClassName(NEVER_SPLIT);
				admin.createTable(b.build(), new byte[][] { row(rows / 2) });
			}
			for (int i = 0; i < rows; i++)
				puts.add(put(i, BYTES));
			table.put(puts);
			admin.flush(READ);
		}
	}

	public static void main(String[] a) throws Exception {
		List<Thread> threads = new ArrayList<>();

		connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
		if (a[0].equals("make")) {
			make(Integer.parseInt(a[1]));
			System.exit(0);
		}
		async = ConnectionFactory.createAsyncConnection(HBaseConfiguration.create()).get();
		new HKinds(a[0], a[1], Integer.parseInt(a[4]), 1, Long.parseLong(a[7])).warm();
		for (int i = 0; i < Integer.parseInt(a[6]); i++)
			threads.add(new Thread(new HKinds(a[0], a[1], Integer.parseInt(a[4]), Integer.parseInt(a[5]), Long.parseLong(a[7]) * 100 + i)::work));
		Files.createFile(Paths.get(a[3] + ".ready"));
		waitFor(a[2], true);
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		try (PrintWriter out = new PrintWriter(new FileWriter(a[3] + ".part"))) {
			counts.forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(a[3] + ".part"), Paths.get(a[3]));
		waitFor(a[2], false);
		System.exit(0);
	}
}
