import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Links every class of a folder, so that the JVM verifies it, and says which it refuses. Needs -Xverify:all.
 * After the folder come the jars that its classes are from: what a JVM refuses as it was is not counted.
 */
public final class Verify {
    private static ClassLoader loader(List<URL> urls) {
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    /** Asking for its members links a class, which verifies it, and runs nothing of it; what is asked for may not be there. */
    private static boolean isVerified(String name, ClassLoader loader) {
        try {
            Class<?> c = Class.forName(name, false, loader);
            for (Runnable ask : List.<Runnable>of(c::getDeclaredMethods, c::getDeclaredFields, c::getDeclaredConstructors)) {
                try {
                    ask.run();
                    return true;
                } catch (NoClassDefFoundError | TypeNotPresentException e) {
                    continue;
                }
            }
        } catch (VerifyError | ClassFormatError e) {
            throw e;
        } catch (LinkageError | ClassNotFoundException e) {
            return false; // it needs what is not there
        }
        return false;
    }

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        List<URL> urls = new ArrayList<>();
        for (String arg : args)
            urls.add(Path.of(arg).toUri().toURL());
        int verified = 0, absent = 0, refused = 0, before = 0;
        ClassLoader loader = loader(urls), original = loader(urls.subList(1, urls.size()));
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(p -> p.toString().endsWith(".class")).sorted().toList();
        }
        for (Path file : files) {
            String name = folder.relativize(file).toString().replace('/', '.');
            name = name.substring(0, name.length() - 6);
            if (name.equals("module-info") || name.endsWith("package-info"))
                continue;
            try {
                if (isVerified(name, loader))
                    verified++;
                else
                    absent++;
            } catch (VerifyError | ClassFormatError e) {
                try {
                    isVerified(name, original);
                    System.out.println(name + ": " + e);
                    refused++;
                } catch (VerifyError | ClassFormatError anyway) {
                    before++;
                }
            }
        }
        System.out.println(verified + " verified, " + absent + " not linked, " + before + " refused as they were, "
            + refused + " refused");
        System.exit(refused == 0 ? 0 : 1);
    }
}
