import java.io.File;

/**
 * What a woven call costs: the best of many short stretches of calls, said again and again until a file is gone.
 *
 * usage: Cost FILE
 */
public final class Cost {
    static final int CALLS = 20_000, SAID_EVERY = 200;
    long sum;

    void plain(int n) {
        sum += n;
    }

    void text(String s) {
        sum += s.length();
    }

    interface Stretch {
        void run();
    }

    static double best(Stretch stretch) {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < SAID_EVERY; i++) {
            long from = System.nanoTime();
            stretch.run();
            best = Math.min(best, (double) (System.nanoTime() - from) / CALLS);
        }
        return best;
    }

    public static void main(String[] args) {
        Cost c = new Cost();
        File file = new File(args[0]);
        String[] names = { "ann", "bob", "eve" };
        System.out.println("ready " + ProcessHandle.current().pid());
        for (int i = 0; file.exists() && i < 100_000; i++)
            System.out.printf("plain %.1f text %.1f%n", best(() -> {
                for (int k = 0; k < CALLS; k++)
                    c.plain(k);
            }), best(() -> {
                for (int k = 0; k < CALLS; k++)
                    c.text(names[k % 3]);
            }));
        System.out.println("end " + c.sum);
    }
}
