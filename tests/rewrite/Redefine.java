import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Exchanges the classes of the running Java for those of a folder, some at a time and back again, so that the JVM verifies them, and
 * says which it refuses. Needs -Xverify:all and itself as an agent. A few cannot be exchanged even for themselves: the JVM changes them
 * when it loads them (events of its recorder).
 */
public final class Redefine {
    private static final int AT_ONCE = 250;
    private static Instrumentation java;
    private static int verified, absent, before, refused;

    /** Woven code may call the class of advice, as it may where the JVM has classes transformed by an agent: it adds these edges itself then. */
    public static void premain(String args, Instrumentation given) throws ClassNotFoundException {
        Module advice = Class.forName("culprit.Advice", false, null).getModule();
        java = given;
        for (Module m : ModuleLayer.boot().modules())
            java.redefineModule(m, Set.of(advice), Map.of(), Map.of(), Set.of(), Map.of());
    }

    private record Exchange(String name, ClassDefinition woven, ClassDefinition original) {
    }

    private static Exchange read(Path folder, Path file) throws IOException {
        String path = folder.relativize(file).toString(), name = path.substring(0, path.length() - 6).replace('/', '.');
        try {
            Class<?> c = Class.forName(name, false, ClassLoader.getSystemClassLoader());
            try (InputStream in = c.getModule().getResourceAsStream(path)) {
                if (in == null || !java.isModifiableClass(c))
                    return null;
                return new Exchange(name, new ClassDefinition(c, Files.readAllBytes(file)), new ClassDefinition(c, in.readAllBytes()));
            }
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    private static boolean isItself(Exchange one) {
        try {
            java.redefineClasses(one.original);
            return true;
        } catch (Throwable e) {
            return false;
        }
    }

    private static Throwable exchange(List<Exchange> all) {
        try {
            java.redefineClasses(all.stream().map(Exchange::woven).toArray(ClassDefinition[]::new));
            java.redefineClasses(all.stream().map(Exchange::original).toArray(ClassDefinition[]::new));
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private static void verify(List<Exchange> all) {
        if (exchange(all) == null) {
            verified += all.size();
            return;
        }
        for (Exchange one : all) {
            Throwable why = exchange(List.of(one));
            if (why == null) {
                verified++;
            } else if (why instanceof NoClassDefFoundError) {
                absent++; // it needs what is not there
            } else if (why instanceof UnsupportedOperationException && !isItself(one)) {
                before++;
            } else {
                System.out.println(one.name + ": " + why);
                refused++;
            }
        }
    }

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        List<Path> files;
        List<Exchange> some = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(p -> p.toString().endsWith(".class") && !p.endsWith("module-info.class")).sorted().toList();
        }
        for (Path file : files) {
            Exchange one = read(folder, file);
            if (one == null)
                absent++;
            else
                some.add(one);
            if (some.size() == AT_ONCE) {
                verify(some);
                some.clear();
            }
        }
        verify(some);
        System.out.println(verified + " verified, " + absent + " not loaded, " + before + " not exchangeable as they were, "
            + refused + " refused");
        System.exit(refused == 0 ? 0 : 1);
    }
}
