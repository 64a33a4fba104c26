import java.io.BufferedReader;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
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
 * A client of HDFS with several threads that do all that clients do, and count it: StressTest.java tells of the truth it writes, and makes
 * the files that are read.
 *
 * NAME GO TRUTH FILES OPERATIONS THREADS SEED: waits for the file GO, does so many operations in each thread, and waits until GO is gone.
 * NAME - - FILES 0 THREADS SEED: each line of its standard input is an order: the name of a file for the truth, and how many operations in
 * each thread.
 * -Dhost=HOST says where it is, -Dkinds=list,look which operations it does, -Dpause=MS how long it rests after each.
 */
public class DfsKinds {
	static final int CHUNK = 512, PART = 64 * CHUNK, BLOCK = 1 << 20;
	static final long WAIT_MS = 600_000;
	static final String HOST = System.getProperty("host", "");
	static final String[] KINDS =
		System.getProperty("kinds", "pread,stream,buffers,list,look,write,append,blocks,rename,delete").split(",");
	static final int PAUSE_MS = Integer.getInteger("pause", 0);
	static final Map<String, Long> counts = new ConcurrentSkipListMap<>();

	final FileSystem fs;
	final Random random;
	final String name;
	final int thread, files;
	int made, operations;

	DfsKinds(FileSystem fs, String name, int thread, int files, long seed) {
		this.fs = fs;
		this.name = name;
		this.thread = thread;
		this.files = files;
		this.random = new Random(seed);
	}

	static void count(String what, String key, long n) {
		counts.merge(what + "\t" + key, n, Long::sum);
	}

	static void called(String method) {
		count("method", method, 1);
	}

	static String hosts(DatanodeInfo[] nodes) {
		return Arrays.stream(nodes).map(DatanodeInfo::getHostName).collect(Collectors.joining(","));
	}

	/* --- reading -------------------------------------------------------------------------------- */

	FSDataInputStream open() throws IOException {
		String file = "/stress/" + random.nextInt(files);
		FSDataInputStream in = fs.open(new Path(file));

		count("file", file, 1);
		count("replicas", hosts(blocks(in).get(0).getLocations()), 1);
		called("getBlockLocations");
		return in;
	}

	static List<LocatedBlock> blocks(FSDataInputStream in) throws IOException {
		return ((HdfsDataInputStream) in).getAllBlocks();
	}

	/* A DataNode is the first that has the block, as long as none fails. */
	void asked(FSDataInputStream in, LocatedBlock b, long bytes) throws IOException {
		String from = b.getLocations()[0].getHostName();

		count("datanode", from, 1);
		count("bytes", name, bytes);
		if (!from.equals(HOST))
			count("remote", from + " of " + hosts(blocks(in).get(0).getLocations()), 1);
	}

	/* Whole chunks within each of the blocks, twice. */
	void pread(boolean isDirect) throws IOException {
		try (FSDataInputStream in = open()) {
			for (LocatedBlock b : blocks(in)) {
				int chunks = 1 + random.nextInt(32);
				long at = b.getStartOffset() + (long) random.nextInt((int) (b.getBlockSize() / CHUNK) - chunks) * CHUNK;

				if (isDirect)
					in.readFully(at, ByteBuffer.allocateDirect(chunks * CHUNK));
				else
					in.readFully(at, new byte[chunks * CHUNK]);
				asked(in, b, chunks * CHUNK);
			}
		}
	}

	/* All of a file: one read of each block. */
	void stream() throws IOException {
		byte[] some = new byte[10_000];

		try (FSDataInputStream in = open()) {
			while (in.read(some) >= 0)
				;
			for (LocatedBlock b : blocks(in))
				asked(in, b, b.getBlockSize());
		}
	}

	/* --- writing -------------------------------------------------------------------------------- */

	static DatanodeInfo[] pipeline(FSDataOutputStream out) throws IOException {
		return ((DFSOutputStream) out.getWrappedStream()).getPipeline();
	}

	/* Whole chunks, which are sent once only. */
	void write(FSDataOutputStream out, int bytes) throws IOException {
		out.write(new byte[bytes]);
		out.hflush();
		count("written", name, (long) bytes * pipeline(out).length);
	}

	/* They have the block that is written to. */
	static void began(FSDataOutputStream out) throws IOException {
		for (DatanodeInfo d : pipeline(out))
			count("datanode", d.getHostName(), 1);
	}

	Path make(int bytes) throws IOException {
		Path p = new Path("/made/" + name + "-" + thread + "-" + made++);

		try (FSDataOutputStream out = fs.create(p, true)) {
			write(out, bytes);
			began(out);
			for (int i = 0; i < 3; i++)
				write(out, PART);
			out.hsync();
		}
		called("create");
		return p;
	}

	/* Into the next block, too; at a block's end there is no pipeline. */
	void blocks() throws IOException {
		try (FSDataOutputStream out = fs.create(new Path("/made/" + name + "-" + thread + "-" + made++), true)) {
			write(out, BLOCK - PART);
			began(out);
			count("written", name, (long) PART * pipeline(out).length);
			out.write(new byte[2 * PART]);
			out.hflush();
			began(out);
			count("written", name, (long) PART * pipeline(out).length);
		}
		called("create");
	}

	/* It is made by one request, and written to by the next. */
	Path last;

	void append() throws IOException {
		try (FSDataOutputStream out = fs.append(last)) {
			write(out, PART);
			began(out);
			write(out, 2 * PART);
		}
		called("append");
	}

	/* --- the namespace -------------------------------------------------------------------------- */

	void rename() throws IOException {
		Path to = new Path(last + ".done");

		if (!fs.rename(last, to))
			throw new IOException("cannot rename " + last);
		called("rename");
		last = to;
	}

	void delete() throws IOException {
		if (!fs.delete(last, false))
			throw new IOException("cannot delete " + last);
		called("delete");
		last = null;
	}

	void look() throws IOException {
		fs.getFileStatus(new Path("/stress/" + random.nextInt(files)));
		called("getFileInfo");
		fs.mkdirs(new Path("/dirs/" + name + "/" + thread + "/" + random.nextInt(1000)));
		called("mkdirs");
	}

	void list() throws IOException {
		if (fs.listStatus(new Path("/stress")).length != files)
			throw new IOException("files are missing");
		called("getListing");
	}

	void doNextOp(String kind) throws IOException {
		switch (kind) {
		case "pread":
			pread(false);
			break;
		case "buffers":
			pread(true);
			break;
		case "stream":
			stream();
			break;
		case "list":
			list();
			break;
		case "look":
			look();
			break;
		case "blocks":
			blocks();
			break;
		case "append":
			append();
			break;
		case "rename":
			rename();
			break;
		case "delete":
			delete();
			break;
		default:
			last = make(PART);
		}
	}

	void work() {
		try {
			for (int i = 0; i < operations; i++) {
				String kind = KINDS[random.nextInt(KINDS.length)];

				if (last == null && List.of("append", "rename", "delete").contains(kind))
					kind = "write";
				doNextOp(kind);
				count("operations", name, 1);
				Thread.sleep(PAUSE_MS);
			}
		} catch (IOException | InterruptedException e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (Files.exists(Paths.get(path)) != isThere && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	/* Each thread does so many operations; then the truth of them is in a file. */
	static void turn(List<DfsKinds> clients, int operations, String truth) throws Exception {
		List<Thread> threads = new ArrayList<>();

		counts.clear();
		for (DfsKinds c : clients) {
			c.operations = operations;
			threads.add(new Thread(c::work));
		}
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		try (PrintWriter out = new PrintWriter(new FileWriter(truth + ".part"))) {
			counts.forEach((k, n) -> out.println(k + "\t" + n));
		}
		Files.move(Paths.get(truth + ".part"), Paths.get(truth));
	}

	static void obey(List<DfsKinds> clients) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

		for (String order; (order = in.readLine()) != null;) {
			String[] words = order.split(" ");
			turn(clients, Integer.parseInt(words[1]), words[0]);
		}
	}

	public static void main(String[] a) throws Exception {
		Configuration conf = new Configuration();
		FileSystem fs = FileSystem.get(URI.create(conf.get("fs.defaultFS")), conf);
		List<DfsKinds> clients = new ArrayList<>();

		for (int i = 0, n = Integer.parseInt(a[5]); i < n; i++)
			clients.add(new DfsKinds(fs, a[0], i, Integer.parseInt(a[3]), Long.parseLong(a[6]) * 100 + i));
		if (a[1].equals("-")) {
			obey(clients);
			System.exit(0);
		}
		waitFor(a[1], true);
		turn(clients, Integer.parseInt(a[4]), a[2]);
		waitFor(a[1], false);
		System.exit(0);
	}
}
