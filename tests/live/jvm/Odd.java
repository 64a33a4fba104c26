import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that is odd in classes, again and again: what is thrown, getters that misbehave, classes of many kinds and loaders. It
 * counts itself, as Shop does; its lines are "NAME COUNT".
 *
 * usage: Odd FILE ROUNDS FOLDER
 */
public final class Odd {
    static final long PATIENCE_NS = 1_200_000_000_000L;
    static final Map<String, Long> counts = new TreeMap<>();
    static int depth;

    static void count(String name) {
        counts.merge(name, 1L, Long::sum);
    }

    interface Task {
        int run(int n);
    }

    static class Plain implements Task {
        @Override
        public int run(int n) {
            count("run");
            return n;
        }
    }

    record Pair(int a, int b) {
        int sum() {
            count("sum");
            return a + b;
        }
    }

    static class Item {
        final int n;

        Item(int n) {
            this.n = n;
        }

        int getBad() {
            throw new IllegalStateException("no value");
        }

        int getSlow() throws InterruptedException {
            Thread.sleep(1);
            return n;
        }

        int getWoven() {
            return use(this);
        }

        @Override
        public String toString() {
            return toString() + "!";
        }
    }

    static class Broken {
        static {
            if (counts != null)
                throw new IllegalStateException("cannot begin");
        }

        static void go() {
        }
    }

    static int use(Item i) {
        count("use");
        return i.n;
    }

    static void fail(int n) {
        count("fail");
        throw new IllegalStateException("n" + n % 3);
    }

    static int deep(int n) {
        depth++;
        return deep(n + 1) + 1;
    }

    static Object hoard(int n) {
        count("hoard");
        return new long[n < 0 ? 0 : Integer.MAX_VALUE];
    }

    static int generic(Comparable<Integer> c) {
        return c.compareTo(1);
    }

    static final class Whole implements Comparable<Integer> {
        @Override
        public int compareTo(Integer n) {
            count("compareTo");
            return n;
        }
    }

    static void caught(Runnable r, Class<? extends Throwable> type) {
        try {
            r.run();
            throw new AssertionError("nothing was thrown");
        } catch (Throwable t) {
            if (!type.isInstance(t))
                throw new AssertionError("another one was thrown", t);
        }
    }

    /** Of a loader of its own, which is dropped. */
    static int twin(URL[] folder) throws Exception {
        try (URLClassLoader l = new URLClassLoader(folder, null)) {
            Method m = l.loadClass("Twin").getMethod("go", int.class);
            count("twin");
            return (int) m.invoke(null, 1);
        }
    }

    static void turn(int i, URL[] folder) throws Exception {
        Task plain = new Plain(), lambda = n -> n, own = new Plain() {
            @Override
            public int run(int n) {
                return super.run(n);
            }
        };
        Task proxy = (Task) Proxy.newProxyInstance(Odd.class.getClassLoader(), new Class<?>[] { Task.class }, (p, m, a) -> a[0]);
        int sum = plain.run(i) + lambda.run(i) + own.run(i) + proxy.run(i) + new Pair(i, 1).sum() + use(new Item(i));
        caught(() -> fail(i), IllegalStateException.class);
        caught(() -> hoard(i), OutOfMemoryError.class);
        caught(() -> Broken.go(), LinkageError.class);
        if (i % 16 == 0)
            caught(() -> deep(0), StackOverflowError.class);
        generic(new Whole());
        sum += twin(folder);
        if (sum == Integer.MIN_VALUE)
            System.out.println("cannot be");
    }

    static void await(File file, boolean isThere) throws InterruptedException {
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() != isThere && System.nanoTime() < until;)
            Thread.sleep(10);
    }

    public static void main(String[] args) throws Exception {
        File file = new File(args[0]);
        URL[] folder = { new File(args[2]).toURI().toURL() };
        System.out.println("ready");
        turn(0, folder);
        counts.clear();
        await(file, true);
        for (int i = 1; i <= Integer.parseInt(args[1]); i++)
            turn(i, folder);
        counts.forEach((name, n) -> System.out.println(name + " " + n));
        System.out.println("done");
        await(file, false);
    }
}
