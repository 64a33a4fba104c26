import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Links every class of a folder, so that the JVM verifies it, and says which it refuses. Needs -Xverify:all. */
public final class Verify {
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        List<URL> urls = new ArrayList<>();
        for (String arg : args)
            urls.add(Path.of(arg).toUri().toURL());
        int verified = 0, absent = 0, refused = 0;
        ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(p -> p.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            String name = folder.relativize(file).toString().replace('/', '.');
            name = name.substring(0, name.length() - 6);
            if (name.equals("module-info") || name.endsWith("package-info"))
                continue;
            try {
                // asking for its methods links a class, which verifies it, and runs nothing of it
                Class.forName(name, false, loader).getDeclaredMethods();
                verified++;
            } catch (VerifyError | ClassFormatError e) {
                System.out.println(name + ": " + e);
                refused++;
            } catch (LinkageError | ClassNotFoundException | TypeNotPresentException e) {
                absent++; // it needs what is not there
            }
        }
        System.out.println(verified + " verified, " + absent + " not linked, " + refused + " refused");
        System.exit(refused == 0 ? 0 : 1);
    }
}
