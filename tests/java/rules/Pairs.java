package rules;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Who talks to whom; the truth is in tests/unit/test_pairs.c. */
class Pairs {
	private static final Logger LOG = LoggerFactory.getLogger(Pairs.class);

	static class Job implements Serializable {
		final String id;

		Job(String id) {
			this.id = id;
		}

		void write(DataOutput out) throws IOException {
			out.writeUTF(id);
		}

		void readFields(DataInput in) throws IOException {
			LOG.debug("fields of {}", in.readUTF());
		}
	}

	/* Threads: one task, many tasks, a thread that says nothing, lambdas. */
	static class Started extends Thread {
		private final Job job;

		Started(Job job) {
			super("Starter of " + job.id);
			this.job = job;
		}

		@Override
		public void run() {
			Thread.currentThread().setName("started for " + job.id);
			LOG.info("started {}", job.id);
		}
	}

	static class Each implements Runnable {
		private final String name;

		Each(String name) {
			this.name = name;
		}

		@Override
		public void run() {
			LOG.info("one of them {}", name);
		}
	}

	static class Silent implements Runnable {
		private final Job job;

		Silent(Job job) {
			this.job = job;
		}

		@Override
		public void run() {
			new Started(job).start();
		}
	}

	static class Starter implements Runnable {
		private final Job job = new Job("j");
		private final ExecutorService pool = Executors.newFixedThreadPool(2);

		@Override
		public void run() {
			LOG.info("starter {}", job.id);
			begin(job);
			new Thread(new Silent(job)).start();
			new Thread(new Filled(job)).start();
			new OtherwiseFilled();
			pool.submit(() -> LOG.info("in a lambda {}", job.id));
		}

		private void begin(Job what) {
			new Started(what).start();
			for (String s : new String[] { "a", "b" })
				pool.execute(new Each(s));
		}
	}

	/* A task that others fill in. */
	abstract static class Template implements Runnable {
		@Override
		public void run() {
			process();
		}

		abstract void process();
	}

	static class Filled extends Template {
		private final Job job;

		Filled(Job job) {
			this.job = job;
		}

		@Override
		void process() {
			LOG.info("filled in {}", job.id);
		}
	}

	static class OtherwiseFilled extends Template {
		@Override
		void process() {
			LOG.info("filled in otherwise");
		}
	}

	/* Queues, and a map that is only shared. */
	static class Producer extends Thread {
		static final LinkedBlockingQueue<Job> QUEUE = new LinkedBlockingQueue<>();
		static final Map<String, String> TABLE = new HashMap<>();

		@Override
		public void run() {
			Job job = new Job("q");

			LOG.info("produced {}", job.id);
			QUEUE.add(job);
			TABLE.put("a", "b");
		}
	}

	static class Consumer extends Thread {
		@Override
		public void run() {
			try {
				while (true) {
					Job job = Producer.QUEUE.take();

					LOG.info("consumed {}", job.id);
				}
			} catch (InterruptedException e) {
				LOG.info("consumer stops");
			}
		}
	}

	static class Sweeper extends Thread {
		@Override
		public void run() {
			String was = (String)Producer.TABLE.remove("a");

			LOG.info("swept {}", was);
		}
	}

	/* Bytes. */
	static class Sender extends Thread {
		DataOutput out;
		ObjectOutputStream objects;

		@Override
		public void run() {
			Job job = new Job("s");

			try {
				LOG.info("sending {}", job.id);
				job.write(out);
				objects.writeObject(job);
			} catch (IOException e) {
				LOG.warn("not sent", e);
			}
		}
	}

	static class Receiver extends Thread {
		DataInput in;

		@Override
		public void run() {
			Job job = new Job("");

			try {
				job.readFields(in);
			} catch (IOException e) {
				LOG.warn("not received", e);
			}
			LOG.info("received {}", job.id);
		}
	}

	static class ObjectReceiver extends Thread {
		ObjectInputStream in;

		@Override
		public void run() {
			try {
				Job job = (Job)in.readObject();

				LOG.info("object {}", job.id);
			} catch (IOException | ClassNotFoundException e) {
				LOG.warn("no object", e);
			}
		}
	}

	/* Events by class. */
	interface Event {
	}

	interface Handler<T extends Event> {
		void handle(T event);
	}

	static class AppEvent implements Event {
		final String app;

		AppEvent(String app) {
			this.app = app;
		}
	}

	static class AppStarted extends AppEvent {
		AppStarted(String app) {
			super(app);
		}
	}

	static class NodeEvent implements Event {
	}

	static class AppHandler implements Handler<AppEvent> {
		@Override
		public void handle(AppEvent event) {
			LOG.info("application {}", event.app);
		}
	}

	static class NodeHandler implements Handler<NodeEvent> {
		@Override
		public void handle(NodeEvent event) {
			LOG.info("node");
		}
	}

	static class Dispatching extends Thread {
		Handler<Event> all;

		@Override
		public void run() {
			LOG.info("dispatching");
			all.handle(new AppStarted("a"));
		}
	}

	/* more than a call can be followed to */
	static class Handler1 extends NodeHandler { @Override public void handle(NodeEvent event) {} }
	static class Handler2 extends NodeHandler { @Override public void handle(NodeEvent event) {} }
	static class Handler3 extends NodeHandler { @Override public void handle(NodeEvent event) {} }
	static class Other1 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other2 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other3 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other4 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other5 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other6 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }
	static class Other7 implements Handler<NodeEvent> { @Override public void handle(NodeEvent event) {} }

	static Object[] handlers() {
		return new Object[] { new AppHandler(), new NodeHandler(), new Handler1(), new Handler2(), new Handler3(),
			new Other1(), new Other2(), new Other3(), new Other4(), new Other5(), new Other6(), new Other7() };
	}

	/* Messages by constant. */
	enum Verb { READ, WRITE }

	interface VerbHandler {
		void doVerb(String what);
	}

	static class ReadHandler implements VerbHandler {
		@Override
		public void doVerb(String what) {
			LOG.info("read {}", what);
		}
	}

	static class WriteHandler implements VerbHandler {
		@Override
		public void doVerb(String what) {
			LOG.info("write {}", what);
		}
	}

	static class Message {
		final Verb verb;

		Message(Verb verb) {
			this.verb = verb;
		}
	}

	static class Network {
		final Map<Verb, VerbHandler> handlers = new HashMap<>();

		void register(Verb verb, VerbHandler handler) {
			handlers.put(verb, handler);
		}

		void setUp() {
			register(Verb.READ, new ReadHandler());
			register(Verb.WRITE, new WriteHandler());
		}
	}

	static class Reader extends Thread {
		@Override
		public void run() {
			LOG.info("asks to {}", new Message(Verb.READ).verb);
		}
	}

	/* A proxy made for an address. */
	interface Protocol {
		void complete(String path, int number);
	}

	static class Service implements Protocol {
		@Override
		public void complete(String path, int number) {
			LOG.info("complete {} by {}", path, number);
			LOG.info("closed {}", path);
		}
	}

	static Object proxyFor(Class<?> protocol, InetSocketAddress at) {
		return null;
	}

	static class Client extends Thread {
		private final String path;
		Protocol service;

		Client(String path) {
			this.path = path;
		}

		@Override
		public void run() {
			LOG.info("client of {}", path);
			service = (Protocol)proxyFor(Protocol.class, new InetSocketAddress(1));
			service.complete(path, 1);
		}
	}

	static void main(ExecutorService pool) {
		Job job = new Job("x");

		new Thread(new Starter()).start();
		new Producer().start();
		new Consumer().start();
		new Sweeper().start();
		new Sender().start();
		new Receiver().start();
		new ObjectReceiver().start();
		new Dispatching().start();
		new Reader().start();
		new Client("/p").start();
		new Service();
		LOG.info("all started {}", job.id);
	}
}
