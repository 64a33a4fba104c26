import java.io.FileWriter;
import java.io.PrintWriter;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * An agent beside ours, for tests. Its options are words:
 *
 * look FILE CLASS...      says in the file which bytes the machine holds of each class: a sum and their number
 * again TIMES CLASS...    has the classes transformed anew so often, in a thread of its own, and changes nothing
 * text FROM TO CLASS...   changes a text of the same length in the classes, for good, and again whenever they are transformed
 */
public final class Peek {
    static Instrumentation machine;

    public static void premain(String options, Instrumentation machine) throws Exception {
        agentmain(options, machine);
    }

    public static void agentmain(String options, Instrumentation i) throws Exception {
        machine = i;
        String[] words = options.split("[ ,]");
        switch (words[0]) {
        case "look":
            look(words[1], named(words, 2));
            break;
        case "again":
            int times = Integer.parseInt(words[1]);
            Class<?>[] classes = named(words, 2);
            Thread t = new Thread(() -> again(times, classes));
            t.setDaemon(true);
            t.start();
            break;
        case "text":
            text(words[1], words[2], words);
            break;
        default:
            throw new IllegalArgumentException(options);
        }
    }

    /** Of all loaders, in the order of the words. */
    static Class<?>[] named(String[] words, int from) {
        List<Class<?>> found = new ArrayList<>();
        for (int i = from; i < words.length; i++)
            for (Class<?> c : machine.getAllLoadedClasses())
                if (c.getName().equals(words[i]))
                    found.add(c);
        return found.toArray(new Class<?>[0]);
    }

    static void look(String file, Class<?>[] classes) throws Exception {
        List<String> said = new ArrayList<>();
        ClassFileTransformer t = new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] bytes) {
                CRC32 sum = new CRC32();
                sum.update(bytes);
                if (Arrays.asList(classes).contains(c))
                    said.add(name + " " + sum.getValue() + " " + bytes.length);
                return null;
            }
        };
        machine.addTransformer(t, true);
        for (Class<?> c : classes)
            machine.retransformClasses(c);
        machine.removeTransformer(t);
        try (PrintWriter out = new PrintWriter(new FileWriter(file))) {
            said.forEach(out::println);
            out.println("end");
        }
    }

    static void again(int times, Class<?>[] classes) {
        try {
            for (int i = 0; i < times; i++)
                machine.retransformClasses(classes);
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    /** In the pool of constants: a tag, two bytes of length, the text. */
    static byte[] replaced(byte[] bytes, byte[] from, byte[] to) {
        byte[] with = bytes.clone();
        for (int i = 3; i + from.length <= bytes.length; i++) {
            boolean is = bytes[i - 3] == 1 && bytes[i - 2] == 0 && bytes[i - 1] == from.length;
            for (int k = 0; is && k < from.length; k++)
                is = bytes[i + k] == from[k];
            if (is)
                System.arraycopy(to, 0, with, i, to.length);
        }
        return with;
    }

    static void text(String from, String to, String[] words) throws Exception {
        List<String> names = Arrays.asList(words).subList(3, words.length);
        machine.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] bytes) {
                return name == null || !names.contains(name.replace('/', '.'))
                        ? null
                        : replaced(bytes, from.getBytes(StandardCharsets.UTF_8), to.getBytes(StandardCharsets.UTF_8));
            }
        }, true);
        Class<?>[] classes = named(words, 3);
        if (classes.length > 0)
            machine.retransformClasses(classes);
    }
}
