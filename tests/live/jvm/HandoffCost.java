import java.io.File;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** How long a task takes from submit to get, in ns: the best of some rounds, each second, for so many seconds. usage: HandoffCost SECONDS */
public final class HandoffCost {
    static int request(ExecutorService pool) throws Exception {
        return pool.submit(() -> 1).get();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        for (long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L; System.nanoTime() < until;) {
            long best = Long.MAX_VALUE, second = System.nanoTime() + 1_000_000_000L;
            while (System.nanoTime() < second) {
                long from = System.nanoTime();
                for (int i = 0; i < 2000; i++)
                    request(pool);
                best = Math.min(best, (System.nanoTime() - from) / 2000);
            }
            System.out.println(best + " ns");
        }
        pool.shutdown();
    }
}
