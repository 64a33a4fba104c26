package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

interface RpcController {
}

/* As a protocol compiler writes it. */
class RpcProtos {
	static class Request {
		final String path;

		Request(String path) {
			this.path = path;
		}
	}

	static class Op {
		String id;

		static Op parseFrom(byte[] bytes) {
			return new Op();
		}

		static class Builder {
			Op build() {
				return new Op();
			}
		}
	}

	static class Service {
		interface BlockingInterface {
			void add(RpcController controller, Request request);
		}

		static class BlockingStub implements BlockingInterface {
			@Override
			public void add(RpcController controller, Request request) {
			}
		}
	}
}

/* A protocol of the program, its two translators, and both sides; the truth is in test_pairs.c. */
class Rpc {
	private static final Logger LOG = LoggerFactory.getLogger(Rpc.class);

	interface Protocol {
		void add(String path);
	}

	static class ClientTranslator implements Protocol {
		private final RpcProtos.Service.BlockingInterface stub = new RpcProtos.Service.BlockingStub();

		@Override
		public void add(String path) {
			stub.add(null, new RpcProtos.Request(path));
		}
	}

	static class ServerTranslator implements RpcProtos.Service.BlockingInterface {
		private final Protocol server;

		ServerTranslator(Protocol server) {
			this.server = server;
		}

		@Override
		public void add(RpcController controller, RpcProtos.Request request) {
			server.add(request.path);
		}
	}

	static class Server implements Protocol {
		@Override
		public void add(String path) {
			LOG.info("adding {}", path);
			LOG.info("added {}", path);
		}
	}

	static class Asking extends Thread {
		private final String path;
		private final Protocol proxy;

		Asking(String path, Protocol proxy) {
			this.path = path;
			this.proxy = proxy;
		}

		@Override
		public void run() {
			LOG.info("asks to add {}", path);
			proxy.add(path);
		}
	}

	/* An operation is written by one, read by another, which hands it on. */
	static class Writing extends Thread {
		@Override
		public void run() {
			LOG.info("writes {}", new RpcProtos.Op.Builder().build());
		}
	}

	static class Reading extends Thread {
		@Override
		public void run() {
			while (true)
				readOp();
		}

		private void readOp() {
			RpcProtos.Op op = RpcProtos.Op.parseFrom(null);

			work(op.id);
		}

		void work(String id) {
			LOG.info("works on {}", id);
			LOG.info("worked on {}", id);
		}
	}

	/* An object is made here, and called by a framework that is not given. */
	interface Callback {
		void completed();
	}

	static class Completion implements Callback {
		private final String path;

		Completion(String path) {
			this.path = path;
		}

		@Override
		public void completed() {
			LOG.info("completed {}", path);
		}
	}

	static class Submitting extends Thread {
		private final String path;
		Callback last;

		Submitting(String path) {
			this.path = path;
		}

		@Override
		public void run() {
			LOG.info("submits {}", path);
			last = new Completion(path);
		}
	}

	static void begin() {
		new Asking("/p", new ClientTranslator()).start();
		new ServerTranslator(new Server());
		new Writing().start();
		new Reading().start();
		new Submitting("/q").start();
	}
}
