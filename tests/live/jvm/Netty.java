import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Promise;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that knows what it does: clients with different names ask a server over Netty's HTTP, each over a connection of its own, all
 * connections on one loop on either side. Both say how often served(way, name) and after(way, name) ran for each name, and how often a
 * header of the program's own did not arrive as it was sent.
 *
 * usage: Netty serve | Netty ask PORT REQUESTS; says "ready PID PORT", waits for a line, works, waits for the end of its input.
 */
public final class Netty {
    static final String[] NAMES = { "ann", "bob", "eve" };
    static final String[] WAYS = { "loop", "later", "timed", "waits", "own" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();
    static final ExecutorService workers = Executors.newFixedThreadPool(3);
    static final NioEventLoopGroup loop = new NioEventLoopGroup(1);

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

    static final class Serves extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest asked) {
            String[] path = asked.uri().split("/");
            if (path[1].equals("own") && !asked.headers().getAll("baggage").toString().contains("mine=" + path[2]))
                count("missed", path[1], path[2]);
            Runnable work = () -> {
                served(path[1], path[2]);
                DefaultFullHttpResponse a = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer("done".getBytes()));
                a.headers().set("content-length", 4);
                ctx.writeAndFlush(a);
            };
            if (path[1].equals("later"))
                workers.execute(work);
            else if (path[1].equals("timed"))
                ctx.executor().schedule(work, 1, TimeUnit.MILLISECONDS);
            else
                work.run();
        }
    }

    static int serve() throws Exception {
        ServerBootstrap b = new ServerBootstrap().group(loop).channel(NioServerSocketChannel.class);
        b.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel c) {
                c.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Serves());
            }
        });
        return ((InetSocketAddress) b.bind(InetAddress.getLoopbackAddress(), 0).sync().channel().localAddress()).getPort();
    }

    // --- clients

    /** One connection: who asks waits for the answer before it asks again. */
    static final class Asks extends SimpleChannelInboundHandler<FullHttpResponse> {
        volatile Promise<String> answer;
        volatile String way, name;

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse got) {
            if (!way.equals("waits"))
                after(way, name);
            answer.setSuccess("done");
        }
    }

    static Channel connect(int port, Asks handler) throws Exception {
        Bootstrap b = new Bootstrap().group(loop).channel(NioSocketChannel.class);
        b.handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel c) {
                c.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(65536), handler);
            }
        });
        return b.connect(InetAddress.getLoopbackAddress(), port).sync().channel();
    }

    static void request(String way, String name, Channel c, Asks a) throws Exception {
        DefaultFullHttpRequest r = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/" + way + "/" + name);
        a.answer = loop.next().newPromise();
        a.way = way;
        a.name = name;
        if (way.equals("own"))
            r.headers().set("baggage", "mine=" + name);
        c.writeAndFlush(r);
        a.answer.get();
        if (way.equals("waits"))
            after(way, name);
    }

    static void asks(int port, String name, int requests) {
        try {
            Asks a = new Asks();
            Channel c = connect(port, a);
            for (String way : WAYS)
                for (int i = 0; i < requests; i++)
                    request(way, name, c, a);
            c.close().sync();
        } catch (Exception e) {
            System.out.println("error " + e);
        }
    }

    static void ask(int port, int requests) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (String name : NAMES) {
            Thread t = new Thread(() -> asks(port, name, requests));
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
        // a program that has run for a while: its classes are there
        if (!serves)
            asks(port, "nobody", 1);
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
