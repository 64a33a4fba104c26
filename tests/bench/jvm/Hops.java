import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.BlockOpResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.Status;

/**
 * What hand-overs cost the thread that does them, in ns of its processor time: the best of many stretches, said again and again while the file
 * named exists. Each stretch is a request. "cold": the median by the clock where the thread has touched so much memory since the last one that
 * nothing of it is at hand any more, as in programs that do much else.
 */
public final class Hops {
	static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
	static final int STRETCH = 1000, COLD = 200, LINE = 64, PAGE = 4096, NEAR = 3 << 20;
	static final byte[] FAR = new byte[96 << 20];
	static final LinkedBlockingQueue<Object> QUEUE = new LinkedBlockingQueue<>();
	static final Callable<Integer> WORK = () -> 1;
	static int sum;

	/** A tracepoint begins a request here. */
	static void request(Callable<Integer> what, int nr) throws Exception {
		for (int i = 0; i < nr; i++)
			sum += what.call();
	}

	static void touch() {
		for (int i = 0; i < FAR.length; i += PAGE + LINE)
			FAR[i]++;
		for (int i = 0; i < NEAR; i += LINE)
			FAR[i]++;
	}

	static long cold(Callable<Integer> what) throws Exception {
		long[] took = new long[COLD];
		int[] nr = new int[1];
		request(() -> {
			touch();
			long from = System.nanoTime();
			int made = what.call();
			took[nr[0]++] = System.nanoTime() - from;
			return made;
		}, COLD);
		java.util.Arrays.sort(took);
		return took[COLD / 2];
	}

	static int queue() {
		QUEUE.offer(new Object());
		return QUEUE.poll() == null ? 0 : 1;
	}

	static int future() throws Exception {
		FutureTask<Integer> f = new FutureTask<>(WORK);
		f.run();
		return f.get();
	}

	static int message() throws Exception {
		byte[] bytes = BlockOpResponseProto.newBuilder().setStatus(Status.SUCCESS).setMessage("a message").build().toByteArray();
		return BlockOpResponseProto.parseFrom(new ByteArrayInputStream(bytes)).getStatus().getNumber();
	}

	static long best(Callable<Integer> what) throws Exception {
		long best = Long.MAX_VALUE;
		for (int i = 0; i < 60; i++) {
			long from = CLOCK.getCurrentThreadCpuTime();
			request(what, STRETCH);
			best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - from);
		}
		return best / STRETCH;
	}

	public static void main(String[] args) throws Exception {
		while (new java.io.File(args[0]).exists()) {
			System.out.printf("queue %d future %d message %d cold: queue %d future %d message %d%n", best(Hops::queue), best(Hops::future),
				best(Hops::message), cold(Hops::queue), cold(Hops::future), cold(Hops::message));
			Thread.sleep(300);
		}
	}
}
