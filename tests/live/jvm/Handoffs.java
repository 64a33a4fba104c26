import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import handoffs.common.cache.LocalCache;

/**
 * A program that knows what it does: requesters with different names ask at the same time, and what they ask for is done by other threads,
 * to which it is handed over in one way for each scenario. It says how often done(scenario, name) ran for each name, how many of these a
 * request had behind it at after(scenario, name), and how many done had another one of the same request behind them (pair).
 *
 * usage: Handoffs REQUESTS [SCENARIO...]; says "ready PID", waits for a line, works, says what it knows, waits for the end of its input.
 */
public final class Handoffs {
    static final String[] NAMES = { "ann", "bob", "eve" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();

    /** One way to hand over: does something for who asks. */
    interface Way {
        void ask(String scenario, String name, int number) throws Exception;
    }

    // --- what is watched ---

    static void request(String scenario, String name, int number, Way way) throws Exception {
        way.ask(scenario, name, number);
    }

    static int done(String scenario, String name) {
        count("done", scenario, name, 1);
        return 1;
    }

    static void after(String scenario, String name, int behind) {
        count("after", scenario, name, behind);
    }

    static void count(String what, String scenario, String name, long nr) {
        truth.computeIfAbsent(what + " " + scenario + " " + name, k -> new AtomicLong()).addAndGet(nr);
    }

    // --- threads and pools: those that are there before anybody watches ---

    static final ThreadPoolExecutor pool = new ThreadPoolExecutor(3, 3, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    static final ThreadPoolExecutor callers =
        new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(1), new ThreadPoolExecutor.CallerRunsPolicy());
    static final ExecutorService cached = Executors.newCachedThreadPool();
    static final ExecutorService stealing = Executors.newWorkStealingPool(3);
    static final ForkJoinPool fork = new ForkJoinPool(2);
    static final ScheduledExecutorService later = Executors.newScheduledThreadPool(1);
    static final Timer timer = new Timer(true);

    static void await(CountDownLatch latch) throws Exception {
        if (!latch.await(60, TimeUnit.SECONDS))
            throw new IllegalStateException("nobody does it");
    }

    static void threads(String s, String name, int i) throws Exception {
        Thread plain = new Thread(() -> done(s, name));
        Thread made = new Thread() {
            @Override
            public void run() {
                done(s, name);
            }
        };
        plain.start();
        made.start();
        plain.join();
        made.join();
        after(s, name, 2);
    }

    static void submitted(ExecutorService to, String s, String name) throws Exception {
        Future<Integer> a = to.submit(() -> done(s, name)), b = to.submit(() -> done(s, name));
        after(s, name, a.get() + b.get());
    }

    static void executed(String s, String name, int i) throws Exception {
        CountDownLatch latch = new CountDownLatch(2);
        for (int k = 0; k < 2; k++)
            pool.execute(() -> {
                done(s, name);
                latch.countDown();
            });
        await(latch);
        after(s, name, 0); // a latch is not carried
    }

    static void all(ExecutorService to, String s, String name) throws Exception {
        to.invokeAll(Arrays.asList(() -> done(s, name), () -> done(s, name), () -> done(s, name)));
        after(s, name, 3);
    }

    static void scheduled(String s, String name, int i) throws Exception {
        after(s, name, later.schedule(() -> done(s, name), 10, TimeUnit.MICROSECONDS).get());
    }

    static void callerRuns(String s, String name, int i) throws Exception {
        List<Future<Integer>> all = new ArrayList<>();
        for (int k = 0; k < 4; k++)
            all.add(callers.submit(() -> done(s, name)));
        for (Future<Integer> f : all)
            f.get();
        // how many of them ran here, behind each other, is a matter of luck
    }

    static void futureTask(String s, String name, int i) throws Exception {
        FutureTask<Integer> task = new FutureTask<>(() -> done(s, name));
        new Thread(task).start();
        after(s, name, task.get());
    }

    static void failing(String s, String name, int i) throws Exception {
        Future<Integer> f = pool.submit((Callable<Integer>) () -> {
            done(s, name);
            throw new IllegalArgumentException("no");
        });
        try {
            f.get();
        } catch (ExecutionException e) {
            after(s, name, 1);
        }
    }

    static void completionService(String s, String name, int i) throws Exception {
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        for (int k = 0; k < 3; k++)
            service.submit(() -> done(s, name));
        for (int k = 0; k < 3; k++)
            service.take().get();
        after(s, name, 3);
    }

    static void timed(String s, String name, int i) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                done(s, name);
                latch.countDown();
            }
        }, 0);
        await(latch);
    }

    // --- fork and join ---

    static final class Sum extends RecursiveTask<Integer> {
        final String s, name;
        final int nr;

        Sum(String s, String name, int nr) {
            this.s = s;
            this.name = name;
            this.nr = nr;
        }

        @Override
        protected Integer compute() {
            if (nr == 1)
                return done(s, name);
            Sum left = new Sum(s, name, nr / 2), right = new Sum(s, name, nr - nr / 2);
            left.fork();
            return right.compute() + left.join();
        }
    }

    static void recursive(String s, String name, int i) {
        after(s, name, fork.invoke(new Sum(s, name, 8)));
    }

    static void forkAll(String s, String name, int i) throws Exception {
        after(s, name, fork.submit(() -> {
            Sum a = new Sum(s, name, 1), b = new Sum(s, name, 1), c = new Sum(s, name, 1);
            ForkJoinTask.invokeAll(a, b);
            ForkJoinTask.invokeAll(Collections.singletonList(c));
            return a.join() + b.join() + c.join();
        }).get());
    }

    static void common(String s, String name, int i) throws Exception {
        after(s, name, ForkJoinPool.commonPool().submit(() -> done(s, name)).get());
    }

    static void streamSum(String s, String name, int i) {
        after(s, name, IntStream.range(0, 8).parallel().map(k -> done(s, name)).sum());
    }

    static void streamEach(String s, String name, int i) {
        IntStream.range(0, 8).parallel().forEach(k -> done(s, name));
        after(s, name, 8);
    }

    // --- futures that others complete ---

    static void cfApply(String s, String name, int i) throws Exception {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> done(s, name));
        if (i % 2 == 0)
            f.get(); // what follows is done at once then
        after(s, name, f.thenApply(x -> x + done(s, name)).thenApplyAsync(x -> x + done(s, name), pool).join());
    }

    static void cfCompose(String s, String name, int i) {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> done(s, name), pool);
        if (i % 3 == 0)
            f.join();
        after(s, name, f.thenCompose(x -> {
            // (by other threads than those of the pool, which may all be here, and wait)
            CompletableFuture<Integer> g = CompletableFuture.supplyAsync(() -> x + done(s, name), i % 2 == 0 ? ForkJoinPool.commonPool() : pool);
            if (i % 2 == 0)
                while (!g.isDone())
                    Thread.yield();
            return g;
        }).join());
    }

    static void cfCombine(String s, String name, int i) {
        CompletableFuture<Integer> a = CompletableFuture.supplyAsync(() -> done(s, name), pool);
        CompletableFuture<Integer> b = CompletableFuture.supplyAsync(() -> done(s, name));
        if (i % 2 == 0)
            while (!a.isDone() || !b.isDone())
                Thread.yield();
        after(s, name, a.thenCombine(b, (x, y) -> x + y).join());
    }

    static void cfAllOf(String s, String name, int i) {
        CompletableFuture<?>[] v = new CompletableFuture<?>[5];
        for (int k = 0; k < v.length; k++)
            v[k] = CompletableFuture.supplyAsync(() -> done(s, name), pool);
        if (i % 2 == 0)
            for (CompletableFuture<?> f : v)
                while (!f.isDone())
                    Thread.yield();
        CompletableFuture.allOf(v).join();
        after(s, name, v.length);
    }

    static void cfAnyOf(String s, String name, int i) {
        CompletableFuture<Integer> never = new CompletableFuture<>();
        CompletableFuture<Integer> one = CompletableFuture.supplyAsync(() -> done(s, name), pool);
        CompletableFuture.anyOf(never, one).join();
        after(s, name, 1);
        never.complete(0);
    }

    static void cfEither(String s, String name, int i) {
        CompletableFuture<Integer> never = new CompletableFuture<>();
        CompletableFuture<Integer> one = CompletableFuture.supplyAsync(() -> done(s, name), pool);
        if (i % 2 == 0)
            while (!one.isDone())
                Thread.yield();
        after(s, name, never.applyToEither(one, x -> x).join());
        never.complete(0);
    }

    static void cfOther(String s, String name, int i) throws Exception {
        CompletableFuture<Integer> f = new CompletableFuture<>();
        pool.execute(() -> f.complete(done(s, name)));
        after(s, name, f.whenComplete((x, e) -> { }).handle((x, e) -> x).get());
    }

    static void cfThrows(String s, String name, int i) {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> {
            done(s, name);
            throw new IllegalArgumentException("no");
        }, pool);
        after(s, name, f.exceptionally(e -> 1).join());
    }

    // --- queues, whose consumers were there before anybody watches ---

    static final class Ask implements Comparable<Ask> {
        final String s, name;
        final CompletableFuture<Integer> answer = new CompletableFuture<>();

        Ask(String s, String name) {
            this.s = s;
            this.name = name;
        }

        @Override
        public int compareTo(Ask other) {
            return 0;
        }
    }

    interface Taker {
        Object take() throws Exception;
    }

    static void loop(Taker from) {
        Thread t = new Thread(() -> {
            try {
                for (;;) {
                    Object o = from.take();
                    if (o instanceof Ask)
                        ((Ask) o).answer.complete(done(((Ask) o).s, ((Ask) o).name));
                }
            } catch (Exception e) {
                System.out.println("error " + e);
            }
        });
        t.setDaemon(true);
        t.start();
    }

    static final List<String> DRAINED = Arrays.asList("drained", "undequed", "unordered");
    static final Map<String, BlockingQueue<Ask>> queues = new LinkedHashMap<>();
    static final Queue<Ask> lockless = new ConcurrentLinkedQueue<>();

    static Ask spin() {
        Ask a;
        while ((a = lockless.poll()) == null)
            Thread.yield();
        return a;
    }

    static void consumers() {
        queues.put("linked", new LinkedBlockingQueue<>());
        queues.put("array", new ArrayBlockingQueue<>(16));
        queues.put("priority", new PriorityBlockingQueue<>());
        queues.put("handed", new SynchronousQueue<>());
        queues.put("deque", new LinkedBlockingDeque<>());
        queues.put("transfer", new LinkedTransferQueue<>());
        queues.put("many", new LinkedBlockingQueue<>());
        queues.put("polled", new LinkedBlockingQueue<>());
        queues.put("drained", new ArrayBlockingQueue<>(16));
        queues.put("undequed", new LinkedBlockingDeque<>());
        queues.put("unordered", new PriorityBlockingQueue<>());
        for (Map.Entry<String, BlockingQueue<Ask>> e : queues.entrySet())
            for (int i = 0; i < (e.getKey().equals("many") ? 3 : DRAINED.contains(e.getKey()) ? 0 : 1); i++)
                if (e.getKey().equals("polled"))
                    loop(() -> e.getValue().poll(1, TimeUnit.MILLISECONDS));
                else
                    loop(e.getValue()::take);
    }

    static void queued(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name), b = new Ask(s, name);
        queues.get(s).put(a);
        queues.get(s).put(b);
        after(s, name, a.answer.get() + b.answer.get());
    }

    /** One at a time, by drainTo: of these the loop knows for whom it works. */
    static Object drainOne(BlockingQueue<Ask> from) {
        List<Ask> one = new ArrayList<>();
        while (from.drainTo(one, 1) == 0)
            Thread.yield();
        return one.get(0);
    }

    /** What one request asks for at once, which is done together; or what three do, of which nobody can tell for whom it is done when. */
    static final BlockingQueue<Ask> together = new LinkedBlockingQueue<>(), mixed = new LinkedBlockingDeque<>();

    static Object drainAll(BlockingQueue<Ask> from, int atLeast) {
        List<Ask> all = new ArrayList<>();
        while (from.size() < atLeast)
            Thread.yield();
        from.drainTo(all);
        for (Ask a : all)
            a.answer.complete(done(a.s, a.name));
        return null;
    }

    static void batched(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name), b = new Ask(s, name);
        synchronized (together) {
            together.put(a);
            together.put(b);
            after(s, name, a.answer.get() + b.answer.get());
        }
    }

    static void mixedUp(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        mixed.put(a);
        a.answer.get();
    }

    /** Two that meet, each with something for the other one. */
    static final Exchanger<Object> exchanger = new Exchanger<>();

    static void exchanged(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        synchronized (exchanger) {
            exchanger.exchange(a);
            after(s, name, a.answer.get());
        }
    }

    static void drainers() {
        for (String q : DRAINED)
            loop(() -> drainOne(queues.get(q)));
        loop(() -> exchanger.exchange(new Object()));
        loop(() -> drainAll(together, 2));
        loop(() -> drainAll(mixed, NAMES.length));
    }

    static void spun(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        lockless.add(a);
        after(s, name, a.answer.get());
    }

    /** What caches note of each time they are read: the same entries, put into a queue and taken out by whoever comes. */
    static final Queue<LocalCache.Entry> read = new ConcurrentLinkedQueue<>();
    static final LocalCache.Entry[] entries = { new LocalCache.Entry(), new LocalCache.Entry() };

    static void readCache(String s, String name, int i) throws Exception {
        for (LocalCache.Entry e : entries)
            read.add(e);
        done(s, name);
        while (read.poll() != null)
            ;
        done(s, name);
        after(s, name, 2);
    }

    /** A loop that hands on to another one. */
    static final BlockingQueue<Ask> first = new LinkedBlockingQueue<>(), second = new LinkedBlockingQueue<>();

    static void dispatched(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        first.add(a);
        after(s, name, a.answer.get());
    }

    static void dispatchers() {
        loop(() -> {
            Ask a = first.take();
            done(a.s, a.name);
            second.add(a);
            return null;
        });
        loop(() -> {
            Ask a = second.take();
            a.answer.complete(1 + done(a.s, a.name));
            return null;
        });
    }

    /** Things that many requests use after each other: what they were used for before says nothing of the next. */
    static final BlockingQueue<Object> tools = new LinkedBlockingQueue<>(Arrays.asList(new Object(), new Object()));

    static void borrowed(String s, String name, int i) throws Exception {
        Object tool = tools.take();
        done(s, name);
        tools.put(tool);
        after(s, name, 1);
    }

    /** … also in a loop, in the middle of what it does. */
    static final BlockingQueue<Ask> borrowing = new LinkedBlockingQueue<>();

    static void borrowers() {
        loop(() -> {
            Ask a = borrowing.take();
            a.answer.complete(useTool(a));
            return null;
        });
    }

    static int useTool(Ask a) throws Exception {
        return withTool(a);
    }

    static int withTool(Ask a) throws Exception {
        Object tool = tools.take();
        int nr = done(a.s, a.name);
        tools.put(tool);
        return nr;
    }

    static void lent(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        borrowing.put(a);
        after(s, name, a.answer.get());
    }

    /** Numbers are everybody's: nothing can be told of them, and that is said. */
    static final BlockingQueue<Integer> numbers = new LinkedBlockingQueue<>();
    static final Map<Integer, Ask> numbered = new ConcurrentHashMap<>();

    static void counted(String s, String name, int i) throws Exception {
        Ask a = new Ask(s, name);
        int number = Arrays.asList(NAMES).indexOf(name);
        numbered.put(number, a);
        numbers.put(number);
        a.answer.get();
    }

    static void counters() {
        loop(() -> numbered.get(numbers.take()));
    }

    // --- all of it ---

    static final Map<String, Way> ways = new LinkedHashMap<>();

    static void waysMake() {
        ways.put("threads", Handoffs::threads);
        ways.put("submitted", (s, n, i) -> submitted(pool, s, n));
        ways.put("executed", Handoffs::executed);
        ways.put("invoked", (s, n, i) -> all(pool, s, n));
        ways.put("scheduled", Handoffs::scheduled);
        ways.put("caller", Handoffs::callerRuns);
        ways.put("cached", (s, n, i) -> submitted(cached, s, n));
        ways.put("stealing", (s, n, i) -> submitted(stealing, s, n));
        ways.put("stolen", (s, n, i) -> all(stealing, s, n));
        ways.put("task", Handoffs::futureTask);
        ways.put("failing", Handoffs::failing);
        ways.put("service", Handoffs::completionService);
        ways.put("timer", Handoffs::timed);
        ways.put("recursive", Handoffs::recursive);
        ways.put("forked", Handoffs::forkAll);
        ways.put("common", Handoffs::common);
        ways.put("stream", Handoffs::streamSum);
        ways.put("each", Handoffs::streamEach);
        ways.put("apply", Handoffs::cfApply);
        ways.put("compose", Handoffs::cfCompose);
        ways.put("combine", Handoffs::cfCombine);
        ways.put("allof", Handoffs::cfAllOf);
        ways.put("anyof", Handoffs::cfAnyOf);
        ways.put("either", Handoffs::cfEither);
        ways.put("other", Handoffs::cfOther);
        ways.put("throws", Handoffs::cfThrows);
        for (String q : queues.keySet())
            ways.put(q, Handoffs::queued);
        ways.put("lockless", Handoffs::spun);
        ways.put("cache", Handoffs::readCache);
        ways.put("dispatched", Handoffs::dispatched);
        ways.put("borrowed", Handoffs::borrowed);
        ways.put("lent", Handoffs::lent);
        ways.put("numbers", Handoffs::counted);
        ways.put("exchanged", Handoffs::exchanged);
        ways.put("batched", Handoffs::batched);
        ways.put("mixed", Handoffs::mixedUp);
    }

    static void work(String scenario, int requests) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (String name : NAMES) {
            Thread t = new Thread(() -> {
                try {
                    for (int i = 0; i < requests; i++)
                        request(scenario, name, i, ways.get(scenario));
                } catch (Exception e) {
                    System.out.println("error " + scenario + " " + e);
                }
            });
            t.start();
            all.add(t);
        }
        for (Thread t : all)
            t.join();
    }

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        pool.prestartAllCoreThreads();
        callers.prestartAllCoreThreads();
        consumers();
        dispatchers();
        borrowers();
        counters();
        drainers();
        loop(Handoffs::spin);
        waysMake();
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        System.out.flush();
        in.readLine();
        // who waits in a queue whose hand-over cannot be seen in the middle goes on to the next one
        for (String q : Arrays.asList("handed", "transfer")) {
            Ask a = new Ask("warm", "nobody");
            queues.get(q).put(a);
            a.answer.get();
        }
        Ask met = new Ask("warm", "nobody");
        exchanger.exchange(met);
        met.answer.get();
        truth.clear();
        List<String> asked = args.length > 1 ? Arrays.asList(args).subList(1, args.length) : new ArrayList<>(ways.keySet());
        for (String s : asked)
            work(s, requests);
        truth.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).sorted().forEach(System.out::println);
        System.out.println("end");
        System.out.flush();
        in.readLine();
        System.exit(0);
    }
}
