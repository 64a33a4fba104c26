import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that knows what it does: clients with different names ask a server over gRPC, in several ways. Both say how often served(way,
 * name) and after(way, name) ran for each name, and how often an entry of the program's own did not arrive as it was sent.
 *
 * usage: Grpc serve [direct] | Grpc ask PORT REQUESTS; says "ready PID PORT", waits for a line, works, waits for the end of its input.
 */
public final class Grpc {
    static final String[] NAMES = { "ann", "bob", "eve" };
    static final String[] WAYS = { "blocking", "later", "future", "async", "stream", "upload", "talk", "failing", "own" };
    static final Map<String, AtomicLong> truth = new ConcurrentHashMap<>();
    static final ExecutorService workers = Executors.newFixedThreadPool(3);
    static final Metadata.Key<String> BAGGAGE = Metadata.Key.of("baggage", Metadata.ASCII_STRING_MARSHALLER);
    static final MethodDescriptor<Words, Words> ONE = method("one", MethodDescriptor.MethodType.UNARY);
    static final MethodDescriptor<Words, Words> DOWN = method("down", MethodDescriptor.MethodType.SERVER_STREAMING);
    static final MethodDescriptor<Words, Words> UP = method("up", MethodDescriptor.MethodType.CLIENT_STREAMING);
    static final MethodDescriptor<Words, Words> BOTH = method("both", MethodDescriptor.MethodType.BIDI_STREAMING);

    static final class Words {
        final String way, name;

        Words(String way, String name) {
            this.way = way;
            this.name = name;
        }
    }

    static final class Plain implements MethodDescriptor.Marshaller<Words> {
        public InputStream stream(Words w) {
            return new ByteArrayInputStream((w.way + " " + w.name).getBytes(StandardCharsets.UTF_8));
        }

        public Words parse(InputStream in) {
            try {
                String[] v = new String(in.readAllBytes(), StandardCharsets.UTF_8).split(" ");
                return new Words(v[0], v[1]);
            } catch (IOException e) {
                throw new RuntimeException(e);
            }
        }
    }

    static MethodDescriptor<Words, Words> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.<Words, Words>newBuilder(new Plain(), new Plain()).setType(type).setFullMethodName("Grpc/" + name).build();
    }

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

    static void one(Words a, StreamObserver<Words> out) {
        Runnable work = () -> {
            served(a.way, a.name);
            if (a.way.equals("failing")) {
                out.onError(Status.NOT_FOUND.asRuntimeException());
                return;
            }
            out.onNext(a);
            out.onCompleted();
        };
        if (a.way.equals("later"))
            workers.execute(work);
        else
            work.run();
    }

    static void down(Words a, StreamObserver<Words> out) {
        served(a.way, a.name);
        for (int i = 0; i < 3; i++)
            out.onNext(a);
        out.onCompleted();
    }

    /** Counts once for each call, when it has been asked for everything; with parts, answers each. */
    static StreamObserver<Words> listener(StreamObserver<Words> out, boolean parts) {
        return new StreamObserver<>() {
            Words a;

            public void onNext(Words asked) {
                a = asked;
                if (parts)
                    out.onNext(a);
            }

            public void onError(Throwable t) {
            }

            public void onCompleted() {
                served(a.way, a.name);
                if (!parts)
                    out.onNext(a);
                out.onCompleted();
            }
        };
    }

    /** The program's own entry of the metadata has arrived. */
    static final class Looks implements ServerInterceptor {
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String mine = headers.get(Metadata.Key.of("mine", Metadata.ASCII_STRING_MARSHALLER));
            if (mine != null && !headers.get(BAGGAGE).contains("mine=" + mine))
                count("missed", "own", mine);
            return next.startCall(call, headers);
        }
    }

    static int serve(boolean isDirect) throws Exception {
        ServerServiceDefinition service = ServerServiceDefinition.builder("Grpc")
            .addMethod(ONE, ServerCalls.asyncUnaryCall(Grpc::one))
            .addMethod(DOWN, ServerCalls.asyncServerStreamingCall(Grpc::down))
            .addMethod(UP, ServerCalls.asyncClientStreamingCall(out -> listener(out, false)))
            .addMethod(BOTH, ServerCalls.asyncBidiStreamingCall(out -> listener(out, true)))
            .build();
        NettyServerBuilder b = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        if (isDirect)
            b.directExecutor();
        Server server = b.addService(ServerInterceptors.intercept(service, new Looks())).build().start();
        return server.getPort();
    }

    // --- clients

    static final class Waits implements StreamObserver<Words> {
        final CountDownLatch done = new CountDownLatch(1);
        final String way, name;

        Waits(String way, String name) {
            this.way = way;
            this.name = name;
        }

        public void onNext(Words w) {
        }

        public void onError(Throwable t) {
            System.out.println("error " + t);
            done.countDown();
        }

        public void onCompleted() {
            after(way, name);
            done.countDown();
        }
    }

    static void blocking(Channel c, Words asked) {
        try {
            ClientCalls.blockingUnaryCall(c, ONE, CallOptions.DEFAULT, asked);
        } catch (RuntimeException e) {
            if (!asked.way.equals("failing"))
                throw e;
        }
    }

    static Channel own(Channel c, String name) {
        Metadata m = new Metadata();
        m.put(BAGGAGE, "mine=" + name);
        m.put(Metadata.Key.of("mine", Metadata.ASCII_STRING_MARSHALLER), name);
        return io.grpc.ClientInterceptors.intercept(c, MetadataUtils.newAttachHeadersInterceptor(m));
    }

    /** What is told by an observer is counted there. */
    static void observed(String way, String name, Channel c) throws Exception {
        Words asked = new Words(way, name);
        Waits w = new Waits(way, name);
        if (way.equals("async")) {
            ClientCalls.asyncUnaryCall(c.newCall(ONE, CallOptions.DEFAULT), asked, w);
        } else {
            StreamObserver<Words> out = way.equals("upload") ? ClientCalls.asyncClientStreamingCall(c.newCall(UP, CallOptions.DEFAULT), w)
                                                              : ClientCalls.asyncBidiStreamingCall(c.newCall(BOTH, CallOptions.DEFAULT), w);
            out.onNext(asked);
            out.onNext(asked);
            out.onCompleted();
        }
        w.done.await();
    }

    static void request(String way, String name, Channel c) throws Exception {
        Words asked = new Words(way, name);
        if (way.equals("async") || way.equals("upload") || way.equals("talk")) {
            observed(way, name, c);
            return;
        }
        if (way.equals("future"))
            ClientCalls.futureUnaryCall(c.newCall(ONE, CallOptions.DEFAULT), asked).get();
        else if (way.equals("stream"))
            for (Iterator<Words> i = ClientCalls.blockingServerStreamingCall(c, DOWN, CallOptions.DEFAULT, asked); i.hasNext();)
                i.next();
        else
            blocking(way.equals("own") ? own(c, name) : c, asked);
        after(way, name);
    }

    static Channel channel(int port) {
        return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    }

    /** A program that has run for a while: its classes are there. */
    static void warm(int port) throws Exception {
        Channel c = channel(port);
        for (String way : WAYS)
            request(way, "nobody", c);
    }

    static void ask(int port, int requests) throws Exception {
        Channel c = channel(port);
        List<Thread> all = new ArrayList<>();
        for (String name : NAMES) {
            Thread t = new Thread(() -> {
                try {
                    for (String way : WAYS)
                        for (int i = 0; i < requests; i++)
                            request(way, name, c);
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
        int port = serves ? serve(args.length > 1) : Integer.parseInt(args[1]);
        if (!serves)
            warm(port);
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
