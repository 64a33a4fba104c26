/** Arrays that do not fit into what a thread has ready: compiled code asks the virtual machine for each, which collects garbage. */
public class Allocate {
	static volatile Object sink;

	static int make(int n) {
		byte[] b = new byte[n];
		b[n - 1] = 1;
		sink = b;
		int[] c = new int[n / 8 + 1];
		c[0] = 5;
		sink = c;
		return b[n - 1] + c[0];
	}

	static int fall(int depth) {
		if (depth == 0)
			throw new IllegalStateException();
		return fall(depth - 1) + 1;
	}

	static void work(long until) {
		java.util.ArrayList<byte[]> kept = new java.util.ArrayList<>();
		for (int round = 0; System.nanoTime() < until; round++) {
			if (round == 50)
				System.out.println("ready"); // by now it is compiled
			for (int i = 0; i < 2000; i++)
				if (make(20000 + i) != 6)
					end("wrong sum");
			try {
				fall(8);
			} catch (IllegalStateException e) {
				if (e.getStackTrace().length < 9)
					end("wrong trace");
			}
			kept.add(new byte[100000]);
			if (kept.size() > 50)
				kept.clear();
		}
	}

	static void end(String how) {
		System.out.println(how);
		System.out.flush();
		Runtime.getRuntime().halt(3);
	}

	public static void main(String[] args) throws Exception {
		long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
		Thread[] t = new Thread[2];
		for (int i = 0; i < t.length; i++)
			(t[i] = new Thread(() -> work(until))).start();
		for (Thread x : t)
			x.join();
		System.out.println("right");
	}
}
