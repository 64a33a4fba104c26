import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/**
 * Requests of customers on thousands of virtual threads, over few threads that carry them: they wait in watched methods, in every way that a
 * virtual thread can, and go on wherever there is room. What is done for them is handed over in one way for each scenario.
 *
 * It says, for each scenario and customer, how often done() ran ("done"), how many done() of the same request were behind each ("pair") and
 * behind after() ("after"); for each call of work() and step() what it waited, what it took at the most (ns) and on which thread ("took"), and
 * the call around it, or the request ("span").
 *
 * usage: Virtual GO CALLERS REQUESTS; says "ready", waits until the file GO is there, works, says what it knows and "done", ends when GO is gone.
 * Without a number of requests (0) it works until GO is gone. With a word more there is no virtual thread before GO is there.
 */
public final class Virtual {
    static final String[] NAMES = { "ann", "bob", "cy", "dee", "eve" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();
    // (no queue: what is put into one is handed over)
    static final StringBuffer calls = new StringBuffer();
    static final AtomicInteger ids = new AtomicInteger();
    static final Lock[] locks = { new ReentrantLock(), new ReentrantLock(), new ReentrantLock() };
    static final Object[] monitors = { new Object(), new Object(), new Object() };
    static final ExecutorService pool = Executors.newFixedThreadPool(2);
    static final BlockingQueue<Item> queue = new LinkedBlockingQueue<>();

    /** Only when it is used. */
    static final class Each {
        static final ExecutorService each = Executors.newVirtualThreadPerTaskExecutor();
    }

    // --- what is watched ---

    static void request(String scenario, String name, int id) throws Exception {
        new Request(scenario, name, id).run();
    }

    /** Waits twice; ns that it waited. */
    static long work(int id, int request, String way) throws Exception {
        return timed(id, way, false) + timed(id, way, false);
    }

    static long step(int id, int around, String way) throws Exception {
        long from = System.nanoTime();
        pause(way, id);
        return System.nanoTime() - from;
    }

    static void done(String scenario, String name, int behind) {
        count("done", scenario, name, 1);
        count("pair", scenario, name, behind);
    }

    static void after(String scenario, String name, int behind) {
        count("after", scenario, name, behind);
    }

    // --- what it knows ---

    static void count(String what, String scenario, String name, long nr) {
        truth.computeIfAbsent(what + " " + scenario + " " + name, k -> new AtomicLong()).addAndGet(nr);
    }

    static long timed(int around, String way, boolean isWork) throws Exception {
        int id = ids.incrementAndGet();
        long from = System.nanoTime();
        long waited = isWork ? work(id, around, way) : step(id, around, way);
        // (others are not known by this number)
        long thread = Thread.currentThread().isVirtual() ? (1L << 32) + Thread.currentThread().threadId() : 0;
        calls.append("took " + id + " " + waited + " " + (System.nanoTime() - from) + " " + thread + "\n");
        calls.append("span " + id + " " + around + "\n");
        return waited;
    }

    // --- ways to wait ---

    static void pause(String way, int number) throws Exception {
        switch (way) {
        case "sleep" -> Thread.sleep(Duration.ofNanos(200_000 + number % 7 * 300_000));
        case "yield" -> {
            for (int i = 0; i < 5; i++)
                Thread.yield();
        }
        case "lock" -> {
            Lock lock = locks[number % locks.length];
            lock.lock();
            try {
                Thread.sleep(0, 300_000);
            } finally {
                lock.unlock();
            }
        }
        // (before JDK 24 the thread that carries it waits as well)
        case "monitor" -> {
            synchronized (monitors[number % monitors.length]) {
                Thread.sleep(0, 300_000);
            }
        }
        case "park" -> {
            Thread me = Thread.currentThread();
            AtomicBoolean isOver = new AtomicBoolean();
            Thread.startVirtualThread(() -> {
                isOver.set(true);
                LockSupport.unpark(me);
            });
            while (!isOver.get())
                LockSupport.park();
        }
        default -> throw new IllegalArgumentException(way);
        }
    }

    static final String[] WAYS = { "sleep", "yield", "lock", "monitor", "park" };

    // --- ways to hand over ---

    record Item(Request request, CompletableFuture<Void> answer) {
    }

    static void serve() {
        try {
            for (;;) {
                Item item = queue.take();
                item.request.task(1);
                item.answer.complete(null);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    static void serversStart() throws Exception {
        for (int i = 0; i < 3; i++)
            Thread.startVirtualThread(Virtual::serve);
        for (String way : WAYS)
            pause(way, 0);
    }

    static final String[] SCENARIOS = { "alone", "start", "duration", "nest", "executor", "all", "future", "queue", "outside" };

    record Request(String scenario, String name, int id) {
        void task(int behind) {
            try {
                timed(id, WAYS[Math.floorMod(id + behind, WAYS.length)], true);
                done(scenario, name, behind);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        void run() throws Exception {
            task(0);
            after(scenario, name, 1 + handOver());
        }

        /** How many were done by others. */
        int handOver() throws Exception {
            switch (scenario) {
            case "start" -> Thread.startVirtualThread(() -> task(1)).join();
            case "duration" -> {
                Thread t = Thread.ofVirtual().unstarted(() -> task(1));
                t.start();
                while (!t.join(Duration.ofSeconds(10)))
                    ;
            }
            case "nest" -> {
                List<Thread> all = new ArrayList<>();
                for (int i = 0; i < 3; i++)
                    all.add(Thread.startVirtualThread(this::nested));
                for (Thread t : all)
                    t.join();
                return 9;
            }
            case "executor" -> {
                List<Future<?>> all = List.of(Each.each.submit(() -> task(1)), Each.each.submit(() -> task(1)));
                for (Future<?> f : all)
                    f.get();
                return 2;
            }
            case "all" -> {
                Each.each.invokeAll(List.of(Executors.callable(() -> task(1)), Executors.callable(() -> task(1))));
                return 2;
            }
            case "future" -> {
                CompletableFuture.runAsync(() -> task(1), Each.each).thenRunAsync(() -> task(2), Each.each).get();
                return 2;
            }
            case "queue" -> {
                Item item = new Item(this, new CompletableFuture<>());
                queue.put(item);
                item.answer.get();
            }
            case "outside" -> pool.submit(() -> task(1)).get();
            default -> {
                return 0;
            }
            }
            return 1;
        }

        /** Two more, of which neither sees what the other does. */
        void nested() {
            task(1);
            Thread[] all = { Thread.startVirtualThread(() -> task(2)), Thread.startVirtualThread(() -> task(2)) };
            try {
                for (Thread t : all)
                    t.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** One request after the other, of the same customer. */
    static void call(int caller, int requests, Path go) {
        try {
            for (int i = 0; requests == 0 ? Files.exists(go) : i < requests; i++) {
                int id = ids.incrementAndGet();
                request(SCENARIOS[(caller + i) % SCENARIOS.length], NAMES[caller % NAMES.length], id);
                calls.append("span " + id + " 0\n");
                Thread.sleep(caller % 3);
            }
        } catch (Exception e) {
            System.out.println("error " + e);
        }
    }

    public static void main(String[] words) throws Exception {
        Path go = Path.of(words[0]);
        int callers = Integer.parseInt(words[1]), requests = Integer.parseInt(words[2]);
        List<Thread> all = new ArrayList<>();

        if (words.length == 3)
            serversStart();
        System.out.println("ready");
        while (!Files.exists(go))
            Thread.sleep(10);
        if (words.length > 3)
            serversStart();
        for (int i = 0; i < callers; i++) {
            int caller = i;
            // (some of them are no virtual threads)
            all.add(caller % 10 == 9 ? Thread.ofPlatform().start(() -> call(caller, requests, go)) : Thread.startVirtualThread(() -> call(caller, requests, go)));
            Thread.sleep(1);
        }
        for (Thread t : all)
            t.join();
        System.out.print(calls);
        truth.forEach((what, nr) -> System.out.println(what + " " + nr));
        System.out.println("done");
        while (Files.exists(go))
            Thread.sleep(10);
        System.exit(0);
    }
}
