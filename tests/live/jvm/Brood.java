import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that starts others which do all their work at once: the first thing that such a machine does is to call a method a number of
 * times, and then it ends. Says how many calls all of them made, and how long each took from its start to its end.
 *
 * usage: Brood FILE MACHINES AT_ONCE STEPS; as one that is started: Brood STEPS
 */
public final class Brood {
    static final long PATIENCE_NS = 1_200_000_000_000L;

    static int step(int number) {
        return number;
    }

    static Process start(int steps, boolean hasShell) throws IOException {
        List<String> line = new ArrayList<>();
        if (hasShell)
            line.addAll(List.of("/bin/sh", "-c", "\"$@\"; exit $?", "sh"));
        line.addAll(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xshare:auto", "-cp", System.getProperty("java.class.path"),
            "-Dculprit.name=child", "Brood", "" + steps));
        return new ProcessBuilder(line).inheritIO().start();
    }

    /** So many machines one after the other, always some at once. */
    static void brood(int machines, int atOnce, int steps) throws Exception {
        List<Process> alive = new ArrayList<>();
        for (int i = 0; i < machines || !alive.isEmpty();) {
            while (i < machines && alive.size() < atOnce)
                alive.add(start(steps, i++ % 2 == 1));
            if (alive.remove(0).waitFor() != 0)
                throw new IllegalStateException("a machine did not end well");
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 1) {
            for (int i = 0; i < Integer.parseInt(args[0]); i++)
                step(i);
            return;
        }
        File file = new File(args[0]);
        int machines = Integer.parseInt(args[1]), steps = Integer.parseInt(args[3]);
        System.out.println("ready");
        for (long until = System.nanoTime() + PATIENCE_NS; !file.exists() && System.nanoTime() < until;)
            Thread.sleep(10);
        brood(machines, Integer.parseInt(args[2]), steps);
        System.out.println("steps " + machines * steps);
        System.out.println("done");
        for (long until = System.nanoTime() + PATIENCE_NS; file.exists() && System.nanoTime() < until;)
            Thread.sleep(10);
    }
}
