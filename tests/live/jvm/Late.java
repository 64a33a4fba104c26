import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CyclicBarrier;

/**
 * Classes that several threads use for the first time at once: One0, One1, … and Two0, Two1, … below Above each have a method call(),
 * which is called once by each thread, by All.call(int), which the test writes. GO CLASSES THREADS: prints "ready", waits for the file GO, prints how many calls were made, and waits until GO is gone.
 */
public class Late {
	static void work(int classes, CyclicBarrier all) {
		try {
			for (int i = 0; i < classes; i++) {
				all.await();
				All.call(i);
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	static void waitFor(String path, boolean isThere) throws InterruptedException {
		while (Files.exists(Paths.get(path)) != isThere)
			Thread.sleep(20);
	}

	public static void main(String[] a) throws Exception {
		int classes = Integer.parseInt(a[1]), threads = Integer.parseInt(a[2]);
		CyclicBarrier all = new CyclicBarrier(threads);
		Thread[] t = new Thread[threads];

		System.out.println("ready");
		waitFor(a[0], true);
		for (int i = 0; i < threads; i++) {
			t[i] = new Thread(() -> work(classes, all));
			t[i].start();
		}
		for (Thread one : t)
			one.join();
		System.out.println("calls " + 2 * classes * threads);
		waitFor(a[0], false);
	}
}
