import java.io.File;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;

/**
 * Requests of which everything is known. Two counters serve at once; each request is checked, worked on by another thread, which fails every
 * tenth time, and then filed; it writes three lines, which name it. Begins when a file is there, and ends when it is gone, or after twenty minutes.
 *
 * usage: Office FILE REQUESTS PAUSE_MICROS
 */
public final class Office {
    static final Logger LOG = Logger.getLogger("office.Desk");
    static final long PATIENCE_NS = 1_200_000_000_000L;
    final ExecutorService workers = Executors.newFixedThreadPool(3);
    final AtomicInteger failed = new AtomicInteger(), lines = new AtomicInteger();

    void say(String what, int id) {
        lines.incrementAndGet();
        LOG.info(what + " " + id);
    }

    void serve(int id) throws InterruptedException {
        check(id);
        Future<Integer> done = workers.submit(() -> work(id));
        try {
            done.get();
        } catch (ExecutionException e) {
            failed.incrementAndGet();
        }
        file(id);
        say("served", id);
    }

    void check(int id) {
        say("checking", id);
    }

    int work(int id) {
        workers.submit(() -> tidy(id));
        if (id % 10 == 0)
            throw new IllegalStateException("no paper");
        LOG.warning("working on " + id);
        lines.incrementAndGet();
        return stamp(id);
    }

    int stamp(int id) {
        return id + 1;
    }

    void file(int id) {
    }

    void tidy(int id) {
    }

    static void await(File file, boolean isThere) throws InterruptedException {
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() != isThere && System.nanoTime() < until;)
            Thread.sleep(10);
    }

    void counter(File file, int first, int nr, long pause) {
        try {
            await(file, true);
            for (int id = first; id < nr; id += 2) {
                serve(id);
                for (long next = System.nanoTime() + pause; System.nanoTime() < next;) {
                    // busy, as somebody who counts money
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        File file = new File(args[0]);
        int nr = Integer.parseInt(args[1]);
        long pause = Long.parseLong(args[2]) * 1000L;
        Office office = new Office();
        Thread[] counters = new Thread[2];
        LOG.setUseParentHandlers(false);
        LOG.info("opening");
        for (int i = 0; i < 3; i++)
            office.workers.submit(() -> office.tidy(-1)).get();
        for (int i = 0; i < counters.length; i++) {
            int first = i;
            counters[i] = new Thread(() -> office.counter(file, first, nr, pause), "counter-" + i);
            counters[i].start();
        }
        System.out.println("ready");
        for (Thread t : counters)
            t.join();
        office.workers.shutdown();
        office.workers.awaitTermination(1, TimeUnit.MINUTES);
        LOG.info("closing");
        System.out.println("requests " + nr + " failed " + office.failed + " lines " + office.lines);
        System.out.println("done");
        await(file, false);
    }
}
