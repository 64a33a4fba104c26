import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A program that starts others to do its work, and knows what they do: each order is made by a Java machine of its own, by way of a shell,
 * in pieces, some of them by a thread of that machine. Says how many pieces were made for each customer.
 *
 * usage: Forge FILE ORDERS; as a worker: Forge PIECES
 */
public final class Forge {
    static final String[] CUSTOMERS = { "ann", "bob" };
    static final long PATIENCE_NS = 1_200_000_000_000L;

    /** An order is an own request. The shell is one more process between; an environment of one's own is another way than that of all. */
    static int order(String customer, int pieces, boolean isAlone) throws Exception {
        List<String> line = new ArrayList<>(Arrays.asList("/bin/sh", "-c", "\"$@\"; exit $?", "sh", System.getProperty("java.home") + "/bin/java",
            "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), "-Dculprit.name=" + (isAlone ? "alone" : "worker"), "Forge", "" + pieces));
        ProcessBuilder b = new ProcessBuilder(line);
        if (isAlone) {
            b.environment().clear();
            b.environment().put("FORGE", "alone");
        }
        Process p = b.redirectErrorStream(true).start();
        String said;
        try (BufferedReader r = new BufferedReader(new InputStreamReader(p.getInputStream()))) {
            said = r.readLine();
            if (r.readLine() != null)
                throw new IllegalStateException("the worker said more than it should");
        }
        if (p.waitFor() != 0 || !said.equals(pieces + " " + (isAlone ? "alone" : "null")))
            throw new IllegalStateException("the worker said: " + said);
        return pieces;
    }

    static int piece(int number) {
        return number;
    }

    /** Whether somebody has come to watch: a thread of his looks after what he has changed. */
    static boolean isWatched() throws Exception {
        for (File task : new File("/proc/self/task").listFiles())
            try {
                if (Files.readAllLines(new File(task, "comm").toPath()).contains("culprit"))
                    return true;
            } catch (IOException e) {
                // it has ended
            }
        return false;
    }

    /** Begins when it is watched, which may take a while. */
    static void work(int pieces) throws Exception {
        Thread other = new Thread(() -> {
            for (int i = 0; i < pieces / 2; i++)
                piece(i);
        });
        for (long until = System.nanoTime() + PATIENCE_NS / 4; !isWatched() && System.nanoTime() < until;)
            Thread.sleep(10);
        Thread.sleep(500);
        other.start();
        other.join();
        for (int i = pieces / 2; i < pieces; i++)
            piece(i);
        System.out.println(pieces + " " + System.getenv("FORGE"));
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 1) {
            work(Integer.parseInt(args[0]));
            return;
        }
        File file = new File(args[0]);
        long[] made = new long[CUSTOMERS.length];
        System.out.println("ready");
        for (long until = System.nanoTime() + PATIENCE_NS; !file.exists() && System.nanoTime() < until;)
            Thread.sleep(10);
        for (int i = 0; i < Integer.parseInt(args[1]); i++)
            made[i % 2] += order(CUSTOMERS[i % 2], 10 + i, i % 3 == 2);
        for (int i = 0; i < CUSTOMERS.length; i++)
            System.out.println(CUSTOMERS[i] + " " + made[i]);
        System.out.println("done");
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() && System.nanoTime() < until;)
            Thread.sleep(10);
    }
}
