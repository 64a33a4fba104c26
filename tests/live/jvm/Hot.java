import java.io.File;

/**
 * Calls one short method as often as it can: so many times in all, and says what came out.
 *
 * usage: Hot FILE CALLS
 */
public final class Hot {
    static long sum;

    static void add(int n) {
        sum += n;
    }

    static void await(File file, boolean isThere) throws InterruptedException {
        for (long until = System.nanoTime() + 1_200_000_000_000L; file.exists() != isThere && System.nanoTime() < until;)
            Thread.sleep(10);
    }

    static void stretch() {
        for (int i = 0; i < 1000; i++)
            add(i);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        await(new File(args[0]), true);
        for (long i = Long.parseLong(args[1]) / 1000; i > 0; i--)
            stretch();
        System.out.println("sum " + sum);
        System.out.println("done");
        await(new File(args[0]), false);
    }
}
