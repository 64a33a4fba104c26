import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that knows what it does: clients with different names ask a server over HTTP, in several ways. Both say how often served(way,
 * name) and after(way, name) ran for each name, and how often a header of the program's own did not arrive as it was sent.
 *
 * usage: Http serve | Http ask PORT REQUESTS; says "ready PID PORT", waits for a line, works, waits for the end of its input.
 */
public final class Http {
    static final String[] NAMES = { "ann", "bob", "eve" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();
    static final String[] NEWER_WAYS = { "client", "async", "own" };

    /** The client that Java has since version 11 (HttpNewer), or null. */
    interface Client {
        void ask(URI url, String way, String name) throws Exception;
    }

    static final Client client = System.getProperty("java.specification.version").equals("1.8") ? null : newer();

    static Client newer() {
        try {
            return (Client) Class.forName("HttpNewer").getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void count(String what, String way, String name) {
        truth.computeIfAbsent(what + " " + way + " " + name, k -> new AtomicLong()).incrementAndGet();
    }

    static void served(String way, String name) {
        count("served", way, name);
    }

    static void after(String way, String name) {
        count("after", way, name);
    }

    static void request(String way, String name, int port) throws Exception {
        URI url = new URI("http://127.0.0.1:" + port + "/" + way + "/" + name);
        if (way.equals("url")) {
            HttpURLConnection c = (HttpURLConnection) url.toURL().openConnection();
            c.setRequestProperty("baggage", "mine=" + name);
            try (InputStream in = c.getInputStream()) {
                while (in.read() >= 0)
                    continue;
            }
        } else {
            client.ask(url, way, name);
        }
        after(way, name);
    }

    static boolean has(List<String> values, String way, String name) {
        String all = String.join(",", values);
        return all.contains("mine=" + name) && (way.equals("url") || all.contains("more=" + name));
    }

    static int serve() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(3));
        server.createContext("/", e -> {
            String[] path = e.getRequestURI().getPath().split("/");
            served(path[1], path[2]);
            if ((path[1].equals("url") || path[1].equals("own")) && !has(e.getRequestHeaders().get("baggage"), path[1], path[2]))
                count("missed", path[1], path[2]);
            byte[] body = "done".getBytes();
            e.sendResponseHeaders(200, body.length);
            e.getResponseBody().write(body);
            e.close();
        });
        server.start();
        return server.getAddress().getPort();
    }

    static void ask(int port, int requests) throws Exception {
        List<Thread> all = new ArrayList<>();
        List<String> ways = new ArrayList<>(Collections.singletonList("url"));
        if (client != null)
            Collections.addAll(ways, NEWER_WAYS);
        for (String name : NAMES) {
            Thread t = new Thread(() -> {
                try {
                    for (String way : ways)
                        for (int i = 0; i < requests; i++)
                            request(way, name, port);
                } catch (Exception e) {
                    System.out.println("error " + e);
                }
            });
            t.start();
            all.add(t);
        }
        for (Thread t : all)
            t.join();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        boolean serves = args[0].equals("serve");
        int port = serves ? serve() : Integer.parseInt(args[1]);
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName() + " " + port);
        System.out.flush();
        in.readLine();
        if (!serves)
            ask(port, Integer.parseInt(args[2]));
        truth.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).sorted().forEach(System.out::println);
        System.out.println("end");
        System.out.flush();
        in.readLine();
        System.exit(0);
    }
}
