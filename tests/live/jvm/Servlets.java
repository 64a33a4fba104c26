import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.servlet.AsyncContext;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.startup.Tomcat;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * A program that knows what it does: clients with different names ask a servlet, by Apache's clients 4 and 5. Both say how often served(way,
 * name) and after(way, name) ran for each name, and how often a header of the program's own did not arrive as it was sent.
 *
 * usage: Servlets serve tomcat|jetty | Servlets ask PORT REQUESTS; says "ready PID PORT", waits for a line, works, waits for the end of its
 * input.
 */
public final class Servlets {
    static final String[] NAMES = { "ann", "bob", "eve" };
    static final String[] WAYS = { "four", "five", "late4", "own4", "own5" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();
    static final ExecutorService workers = Executors.newFixedThreadPool(3);
    static final CloseableHttpClient four = HttpClients.custom().setMaxConnPerRoute(3).build();
    static final org.apache.hc.client5.http.impl.classic.CloseableHttpClient five =
        org.apache.hc.client5.http.impl.classic.HttpClients.createDefault();

    static void count(String what, String way, String name) {
        if (!name.equals("nobody"))
            truth.computeIfAbsent(what + " " + way + " " + name, k -> new AtomicLong()).incrementAndGet();
    }

    static void served(String way, String name) {
        count("served", way, name);
    }

    static void after(String way, String name) {
        count("after", way, name);
    }

    // --- the server

    public static final class Serves extends HttpServlet {
        static void work(String[] path, HttpServletResponse a) {
            served(path[1], path[2]);
            try {
                a.getOutputStream().print("done");
            } catch (IOException e) {
                System.out.println("error " + e);
            }
        }

        @Override
        protected void doGet(HttpServletRequest asked, HttpServletResponse a) {
            String[] path = asked.getRequestURI().split("/");
            if (path[1].startsWith("own") && !Collections.list(asked.getHeaders("baggage")).toString().contains("mine=" + path[2]))
                count("missed", path[1], path[2]);
            if (!path[1].startsWith("late")) {
                work(path, a);
                return;
            }
            AsyncContext later = asked.startAsync();
            workers.execute(() -> {
                work(path, a);
                later.complete();
            });
        }
    }

    static int tomcat() throws Exception {
        Tomcat t = new Tomcat();
        t.setBaseDir(Files.createTempDirectory("servlets").toString());
        t.setPort(0);
        t.getConnector().setProperty("address", "127.0.0.1");
        t.setSilent(true);
        Tomcat.addServlet(t.addContext("", null), "s", new Serves()).setAsyncSupported(true);
        ((org.apache.catalina.Context) t.getHost().findChildren()[0]).addServletMappingDecoded("/*", "s");
        t.start();
        return t.getConnector().getLocalPort();
    }

    static int jetty() throws Exception {
        Server s = new Server(new InetSocketAddress("127.0.0.1", 0));
        ServletContextHandler h = new ServletContextHandler();
        ServletHolder holder = new ServletHolder(new Serves());
        holder.setAsyncSupported(true);
        h.addServlet(holder, "/*");
        s.setHandler(h);
        s.start();
        return ((org.eclipse.jetty.server.ServerConnector) s.getConnectors()[0]).getLocalPort();
    }

    // --- clients

    static void request(String way, String name, int port) throws Exception {
        String url = "http://127.0.0.1:" + port + "/" + way + "/" + name;
        if (way.endsWith("5") || way.equals("five")) {
            org.apache.hc.client5.http.classic.methods.HttpGet g = new org.apache.hc.client5.http.classic.methods.HttpGet(url);
            if (way.equals("own5"))
                g.setHeader("baggage", "mine=" + name);
            five.execute(g, r -> EntityUtils.toString(r.getEntity()));
        } else {
            HttpGet g = new HttpGet(url);
            if (way.equals("own4"))
                g.setHeader("baggage", "mine=" + name);
            try (CloseableHttpResponse r = four.execute(g)) {
                r.getEntity().getContent().readAllBytes();
            }
        }
        after(way, name);
    }

    static void ask(int port, int requests) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (String name : NAMES) {
            Thread t = new Thread(() -> {
                try {
                    for (String way : WAYS)
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
        int port = !serves ? Integer.parseInt(args[1]) : args[1].equals("tomcat") ? tomcat() : jetty();
        // a program that has run for a while: its classes are there
        if (!serves)
            for (String way : WAYS)
                request(way, "nobody", port);
        System.out.println("ready " + ProcessHandle.current().pid() + " " + port);
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
