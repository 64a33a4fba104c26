import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A shop that never rests: each line of its standard input is a number of orders, which three customers share. When they are done it says
 * how much each has bought. Others hum all the time through the same pools, so that there is always load while something is woven.
 */
public final class Soak {
    static final String[] CUSTOMERS = { "ann", "bob", "eve" };
    static final ExecutorService clerks = Executors.newFixedThreadPool(3);
    static volatile long hummed;

    static int order(String customer, int amount) throws Exception {
        Future<Integer> sold = clerks.submit(() -> pack(amount, customer.length()));
        return sold.get() + CompletableFuture.supplyAsync(() -> ship(amount), clerks).thenApply(n -> n + 1).get();
    }

    static int pack(int amount, int weight) {
        return amount * weight;
    }

    static int ship(int amount) {
        return amount;
    }

    static void hum() {
        try {
            for (;;) {
                hummed += clerks.submit(() -> 1).get();
                Thread.sleep(1);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    static long buy(String customer, int nr) {
        long sum = 0;
        try {
            for (int i = 0; i < nr; i++) {
                order(customer, i % 7 + 1);
                sum += i % 7 + 1;
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(Soak::hum);
            t.setDaemon(true);
            t.start();
        }
        buy("nobody", 10);
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            int nr = Integer.parseInt(line.trim()) / CUSTOMERS.length;
            List<Thread> buyers = new ArrayList<>();
            long[] sums = new long[CUSTOMERS.length];
            for (int c = 0; c < CUSTOMERS.length; c++) {
                int who = c;
                buyers.add(new Thread(() -> sums[who] = buy(CUSTOMERS[who], nr)));
            }
            for (Thread t : buyers)
                t.start();
            for (Thread t : buyers)
                t.join();
            System.out.println("done " + nr + " " + sums[0] + " " + sums[1] + " " + sums[2]);
        }
        System.exit(0);
    }
}
