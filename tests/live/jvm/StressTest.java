import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * A closed-loop client of HDFS that counts what it does: the truth that queries are judged by.
 *
 * StressTest make FILES BYTES REPLICATION: writes /stress/0, /stress/1, … and ends.
 * StressTest OPERATION NAME GO TRUTH FILES OPERATIONS SEED [BYTES]: waits for the file GO, does so many operations
 * (read, open, create, rename or mixed) and writes what it counted into TRUTH, then waits until GO is gone. -Dhost=HOST says where it is.
 */
public class StressTest {
	static final int CHUNK = 512;
	static final String HOST = System.getProperty("host", "");
	static final long WAIT_MS = 300_000, RUN_MS = 300_000;

	final FileSystem fs;
	final Random random;
	final String name, operation;
	final int files, bytes;
	final byte[] buffer;
	final Map<String, Long> counts = new TreeMap<>();
	int created;

	StressTest(FileSystem fs, String name, String operation, int files, long seed, int bytes) {
		this.fs = fs;
		this.name = name;
		this.operation = operation;
		this.files = files;
		this.bytes = bytes;
		this.buffer = new byte[bytes];
		this.random = new Random(seed);
	}

	void count(String what, String key, long n) {
		counts.merge(what + "\t" + key, n, Long::sum);
	}

	static String hosts(DatanodeInfo[] nodes) {
		return Arrays.stream(nodes).map(DatanodeInfo::getHostName).collect(Collectors.joining(","));
	}

	/** What the NameNode answered. */
	List<LocatedBlock> opened(String file, FSDataInputStream in) throws IOException {
		List<LocatedBlock> blocks = ((HdfsDataInputStream) in).getAllBlocks();

		count("file", file, 1);
		count("replicas", hosts(blocks.get(0).getLocations()), 1);
		return blocks;
	}

	/** Whole chunks of one block. The DataNode is the first that has it, as long as none fails. */
	void read() throws IOException {
		String file = "/stress/" + random.nextInt(files);

		try (FSDataInputStream in = fs.open(new Path(file))) {
			List<LocatedBlock> blocks = opened(file, in);
			LocatedBlock b = blocks.get(random.nextInt(blocks.size()));
			long room = (b.getBlockSize() - bytes) / CHUNK;
			String from = b.getLocations()[0].getHostName();

			in.readFully(b.getStartOffset() + (long) (random.nextDouble() * (room + 1)) * CHUNK, buffer);
			count("datanode", from, 1);
			if (!from.equals(HOST))
				count("remote", from + " of " + hosts(blocks.get(0).getLocations()), 1);
		}
		count("bytes", name, bytes);
		count("method", "getBlockLocations", 1);
	}

	void open() throws IOException {
		String file = "/stress/" + random.nextInt(files);

		try (FSDataInputStream in = fs.open(new Path(file))) {
			opened(file, in);
		}
		count("method", "getBlockLocations", 1);
	}

	String create() throws IOException {
		String file = "/made/" + name + "-" + created++;

		try (FSDataOutputStream out = fs.create(new Path(file), true)) {
			DatanodeInfo[] pipeline;

			out.write(buffer);
			out.hflush();
			pipeline = ((DFSOutputStream) out.getWrappedStream()).getPipeline();
			for (DatanodeInfo d : pipeline)
				count("datanode", d.getHostName(), 1);
			count("written", name, (long) bytes * pipeline.length);
		}
		count("method", "create", 1);
		return file;
	}

	void rename() throws IOException {
		String file = create();

		if (!fs.rename(new Path(file), new Path(file + ".done")))
			throw new IOException("cannot rename " + file);
		count("method", "rename", 1);
	}

	void doNextOp() throws IOException {
		switch (operation.equals("mixed") ? new String[] { "read", "open", "create", "rename" }[random.nextInt(4)] : operation) {
		case "read":
			read();
			break;
		case "open":
			open();
			break;
		case "create":
			create();
			break;
		default:
			rename();
		}
		count("operations", name, 1);
	}

	void tell(String path) throws IOException {
		try (PrintWriter out = new PrintWriter(new FileWriter(path + ".part"))) {
			counts.forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(path + ".part"), Paths.get(path));
	}

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (Files.exists(Paths.get(path)) != isThere && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	static void make(FileSystem fs, int files, int bytes, short replication) throws IOException {
		byte[] some = new byte[bytes];

		for (int i = 0; i < files; i++)
			try (FSDataOutputStream out = fs.create(new Path("/stress/" + i), true, 4096, replication, fs.getDefaultBlockSize(new Path("/")))) {
				out.write(some);
			}
	}

	public static void main(String[] a) throws Exception {
		Configuration conf = new Configuration();
		FileSystem fs = FileSystem.get(URI.create(conf.get("fs.defaultFS")), conf);

		if (a[0].equals("make")) {
			make(fs, Integer.parseInt(a[1]), Integer.parseInt(a[2]), Short.parseShort(a[3]));
			System.exit(0);
		}
		StressTest t = new StressTest(fs, a[1], a[0], Integer.parseInt(a[4]), Long.parseLong(a[6]), a.length > 7 ? Integer.parseInt(a[7]) : 8192);
		long end;

		waitFor(a[2], true);
		end = System.currentTimeMillis() + RUN_MS;
		for (int i = 0, n = Integer.parseInt(a[5]); i < n && System.currentTimeMillis() < end; i++)
			t.doNextOp();
		t.tell(a[3]);
		waitFor(a[2], false);
		System.exit(0);
	}
}
