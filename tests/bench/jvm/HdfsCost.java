import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What operations of HDFS take: of each line "OPERATION SECONDS" on its standard input it does so many seconds of that one, and says how many there
 * were, the mean and the median, in µs.
 */
public class HdfsCost {
	static final int FILES = 20, BYTES = 8192, FILE_BYTES = 1 << 20, TUPLES = 60, MAX = 1_000_000, NEW = 100;

	final FileSystem fs;
	final Random random = new Random(1);
	final byte[] buffer = new byte[BYTES];
	FSDataInputStream[] open = new FSDataInputStream[FILES];
	long created;

	HdfsCost(FileSystem fs) {
		this.fs = fs;
	}

	static Path file(int i) {
		return new Path("/cost/" + i);
	}

	void make() throws IOException {
		for (int i = 0; i < FILES; i++) {
			try (java.io.OutputStream out = fs.create(file(i), true)) {
				out.write(new byte[FILE_BYTES]);
			}
			open[i] = fs.open(file(i));
		}
	}

	/** Called as often as a request shall carry tuples, in every turn. */
	static int note(int i) {
		return i;
	}

	void doNextOp(String operation) throws IOException {
		int i = random.nextInt(FILES);

		for (int k = 0; k < TUPLES; k++)
			note(k);
		switch (operation) {
		case "read8k":
			open[i].readFully((long) random.nextInt(FILE_BYTES / BYTES) * BYTES, buffer);
			break;
		case "open":
			fs.open(file(i)).close();
			break;
		case "create":
			fs.create(new Path("/cost/new" + created++ % NEW), true).close();
			break;
		default:
			fs.rename(file(i), new Path("/cost/renamed"));
			fs.rename(new Path("/cost/renamed"), file(i));
		}
	}

	void turn(String operation, double seconds) throws IOException {
		long until = System.nanoTime() + (long) (seconds * 1e9);
		long[] took = new long[MAX];
		int nr = 0;

		do {
			long from = System.nanoTime();

			doNextOp(operation);
			took[nr++] = System.nanoTime() - from;
		} while (System.nanoTime() < until && nr < MAX);
		took = Arrays.copyOf(took, nr);
		Arrays.sort(took);
		System.out.printf("%s %d %.1f %.1f%n", operation, nr, Arrays.stream(took).average().orElse(0) / 1e3, took[nr / 2] / 1e3);
		System.out.println("ok");
		System.out.flush();
	}

	public static void main(String[] args) throws Exception {
		HdfsCost c = new HdfsCost(FileSystem.get(new Configuration()));
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

		c.make();
		System.out.println("ok");
		for (String line = in.readLine(); line != null; line = in.readLine())
			c.turn(line.split(" ")[0], Double.parseDouble(line.split(" ")[1]));
		System.exit(0);
	}
}
