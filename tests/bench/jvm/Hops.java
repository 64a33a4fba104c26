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
 * named exists. Each stretch is a request.
 */
public final class Hops {
	static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
	static final int STRETCH = 1000;
	static final LinkedBlockingQueue<Object> QUEUE = new LinkedBlockingQueue<>();
	static final Callable<Integer> WORK = () -> 1;
	static int sum;

	/** A tracepoint begins a request here. */
	static void request(Callable<Integer> what) throws Exception {
		for (int i = 0; i < STRETCH; i++)
			sum += what.call();
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
			request(what);
			best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - from);
		}
		return best / STRETCH;
	}

	public static void main(String[] args) throws Exception {
		while (new java.io.File(args[0]).exists()) {
			System.out.printf("queue %d future %d message %d%n", best(Hops::queue), best(Hops::future), best(Hops::message));
			Thread.sleep(300);
		}
	}
}
