import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FixedLengthInputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;

/**
 * A MapReduce sort of records of 100 bytes that says what its job has counted: the truth that queries are judged by.
 *
 * SortJob make FOLDER FILES RECORDS: writes FOLDER/0, … and ends.
 * SortJob sort NAME GO TRUTH FOLDER REDUCES: waits for the file GO, sorts FOLDER into FOLDER-sorted, writes what the job counted into TRUTH,
 * then waits until GO is gone.
 */
public class SortJob {
	static final int RECORD = 100, KEY = 10;
	static final long WAIT_MS = 600_000;

	/** A file is read from its beginning to its end, so that it is known what is read of it. */
	public static class Whole extends FixedLengthInputFormat {
		@Override
		protected boolean isSplitable(JobContext context, Path file) {
			return false;
		}
	}

	public static class ByKey extends Mapper<LongWritable, BytesWritable, BytesWritable, BytesWritable> {
		@Override
		protected void map(LongWritable at, BytesWritable record, Context context) throws IOException, InterruptedException {
			context.write(new BytesWritable(Arrays.copyOf(record.getBytes(), KEY)), record);
		}
	}

	public static class InOrder extends Reducer<BytesWritable, BytesWritable, BytesWritable, NullWritable> {
		@Override
		protected void reduce(BytesWritable key, Iterable<BytesWritable> records, Context context) throws IOException, InterruptedException {
			for (BytesWritable record : records)
				context.write(record, NullWritable.get());
		}
	}

	static void make(FileSystem fs, String folder, int files, int records) throws IOException {
		Random random = new Random(1);
		byte[] record = new byte[RECORD];

		for (int i = 0; i < files; i++)
			try (FSDataOutputStream out = fs.create(new Path(folder + "/" + i), (short) 2)) {
				for (int k = 0; k < records; k++) {
					random.nextBytes(record);
					out.write(record);
				}
			}
	}

	static Job job(Configuration conf, String name, String folder, int reduces) throws IOException {
		Job job;

		FixedLengthInputFormat.setRecordLength(conf, RECORD);
		job = Job.getInstance(conf, name);
		job.setInputFormatClass(Whole.class);
		job.setMapperClass(ByKey.class);
		job.setMapOutputKeyClass(BytesWritable.class);
		job.setMapOutputValueClass(BytesWritable.class);
		job.setReducerClass(InOrder.class);
		job.setNumReduceTasks(reduces);
		job.setOutputFormatClass(SequenceFileOutputFormat.class);
		job.setOutputKeyClass(BytesWritable.class);
		job.setOutputValueClass(NullWritable.class);
		FixedLengthInputFormat.addInputPath(job, new Path(folder));
		SequenceFileOutputFormat.setOutputPath(job, new Path(folder + "-sorted"));
		return job;
	}

	static void tell(FileSystem fs, Job job, String folder, String path) throws Exception {
		try (PrintWriter out = new PrintWriter(new FileWriter(path + ".part"))) {
			for (FileStatus s : fs.listStatus(new Path(folder)))
				out.println("input\t" + s.getPath().toUri().getPath() + "\t" + s.getLen());
			for (FileStatus s : fs.listStatus(new Path(folder + "-sorted")))
				if (s.getLen() > 0)
					out.println("output\t" + s.getPath().toUri().getPath() + "\t" + s.getLen() * s.getReplication());
			for (TaskCounter c : new TaskCounter[] { TaskCounter.MAP_INPUT_RECORDS, TaskCounter.REDUCE_OUTPUT_RECORDS, TaskCounter.SPILLED_RECORDS })
				out.println("counter\t" + c + "\t" + job.getCounters().findCounter(c).getValue());
			for (String scheme : new String[] { "HDFS", "FILE" })
				for (FileSystemCounter c : new FileSystemCounter[] { FileSystemCounter.BYTES_READ, FileSystemCounter.BYTES_WRITTEN })
					out.println("counter\t" + scheme + "_" + c + "\t" + job.getCounters().findCounter(scheme, c).getValue());
		}
		Files.move(Paths.get(path + ".part"), Paths.get(path));
	}

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		long end = System.currentTimeMillis() + WAIT_MS;

		while (Files.exists(Paths.get(path)) != isThere && System.currentTimeMillis() < end)
			Thread.sleep(50);
	}

	public static void main(String[] a) throws Exception {
		Configuration conf = new Configuration();
		FileSystem fs = FileSystem.get(conf);
		Job job;

		if (a[0].equals("make")) {
			make(fs, a[1], Integer.parseInt(a[2]), Integer.parseInt(a[3]));
			System.exit(0);
		}
		waitFor(a[2], true);
		job = job(conf, a[1], a[4], Integer.parseInt(a[5]));
		if (!job.waitForCompletion(false))
			System.exit(1);
		tell(fs, job, a[4], a[3]);
		waitFor(a[2], false);
		System.exit(0);
	}
}
