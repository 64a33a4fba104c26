import java.io.File;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A program that knows what it does: customers order, a clerk on another thread sells. It begins when a file is there, says on its standard
 * output how often every customer ordered and how much, and ends when the file is gone, or after twenty minutes.
 *
 * usage: Shop FILE ORDERS PAUSE_MICROS
 */
@Shop.Sells(hours = { 8, 18 }, by = @Shop.Timed("hand"))
public final class Shop {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Timed {
        String value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Sells {
        int[] hours();
        Timed by();
    }

    static final String[] CUSTOMERS = { "ann", "bob", "eve" };
    static final long PATIENCE_NS = 1_200_000_000_000L;
    final long[] bought = new long[CUSTOMERS.length], orders = new long[CUSTOMERS.length];
    final ExecutorService clerks = Executors.newFixedThreadPool(2);

    int order(String customer, int amount) throws Exception {
        Future<Integer> sold = clerks.submit(() -> sell(amount));
        return sold.get();
    }

    int sell(int amount) {
        if (amount < 0)
            throw new IllegalArgumentException("nobody buys less than nothing");
        return pack(amount, "box");
    }

    @Deprecated
    @Timed("pack")
    int pack(int amount, String into) {
        return amount * into.length();
    }

    static void await(File file, boolean isThere) throws InterruptedException {
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() != isThere && System.nanoTime() < until;)
            Thread.sleep(10);
    }

    public static void main(String[] args) throws Exception {
        File file = new File(args[0]);
        long nr = Long.parseLong(args[1]), pause = Long.parseLong(args[2]) * 1000L;
        Shop shop = new Shop();
        shop.sell(1);
        shop.clerks.submit(() -> shop.sell(1)).get();
        System.out.println("ready");
        await(file, true);
        for (int i = 0; i < nr; i++) {
            int who = i % CUSTOMERS.length, amount = i % 7 + 1;
            shop.order(CUSTOMERS[who], amount);
            shop.bought[who] += amount;
            shop.orders[who]++;
            for (long next = System.nanoTime() + pause; System.nanoTime() < next;) {
                // busy, as somebody who counts money
            }
        }
        for (int who = 0; who < CUSTOMERS.length; who++)
            System.out.println(CUSTOMERS[who] + " " + shop.orders[who] + " " + shop.bought[who]);
        System.out.println("done");
        await(file, false);
        shop.clerks.shutdown();
    }
}
