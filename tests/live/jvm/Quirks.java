import java.io.File;
import java.lang.reflect.Method;

/**
 * Calls the classes of odd_classes.py, and says what they gave all in all.
 *
 * usage: Quirks FILE ROUNDS
 */
public final class Quirks {
    static final long PATIENCE_NS = 1_200_000_000_000L;

    static void await(File file, boolean isThere) throws InterruptedException {
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() != isThere && System.nanoTime() < until;)
            Thread.sleep(10);
    }

    public static void main(String[] args) throws Exception {
        String[][] names = { { "Old", "go" }, { "Bare", "a" }, { "Bare", "if" }, { "Bare", "\u2603" }, { "Vast", "go" }, { "Vast", "beside" } };
        Method[] methods = new Method[names.length];
        long sum = 0;
        for (int i = 0; i < names.length; i++) {
            methods[i] = Class.forName(names[i][0]).getDeclaredMethod(names[i][1], int.class);
            methods[i].setAccessible(true);
            methods[i].invoke(null, 1);
        }
        System.out.println("ready");
        await(new File(args[0]), true);
        for (int n = 0; n < Integer.parseInt(args[1]); n++)
            for (Method m : methods)
                sum += (int) m.invoke(null, n);
        System.out.println("sum " + sum);
        System.out.println("done");
        await(new File(args[0]), false);
    }
}
