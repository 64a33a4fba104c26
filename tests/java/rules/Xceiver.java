package rules;

import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The example of the paper, Figure 3: a thread that reads operations in a loop. Each operation is a
 * request of its own. The loop is one too, since a thread begins with it, but none that blocks identify.
 */
//@ top Xceiver.writeBlock
//@ top Xceiver.readBlock
//@ top Xceiver$Responder.run
//@ no id Xceiver.run Xceiver$Block.id
//@ no top Xceiver.receive
//@ no top Xceiver$Block.getId
//@ id Xceiver.writeBlock Xceiver$Block.id
//@ id Xceiver.writeBlock Xceiver$Block.pool
//@ no id Xceiver.writeBlock Xceiver$Block.stamp
//@ id Xceiver.readBlock Xceiver$Block.id
//@ id Xceiver.readBlock Xceiver$Block.stamp
//@ id Xceiver$Responder.run Xceiver$Block.id
class Xceiver implements Runnable {
	private static final Logger LOG = LoggerFactory.getLogger(Xceiver.class);

	static class Block {
		private final String pool;
		private final long id;
		private long stamp;

		Block(String pool, long id, long stamp) {
			this.pool = pool;
			this.id = id;
			this.stamp = stamp;
		}

		long getId() {
			return id;
		}

		void setStamp(long stamp) {
			this.stamp = stamp;
		}

		@Override
		public String toString() {
			return pool + ":blk_" + getId() + "_" + stamp;
		}
	}

	private final LinkedBlockingQueue<Object> socket = new LinkedBlockingQueue<>();

	@Override
	public void run() {
		try {
			while (true) {
				String op = (String)socket.take();
				Block block = new Block((String)socket.take(), (Long)socket.take(), 0);

				if (op.equals("write"))
					writeBlock(block, op); //> call Xceiver.writeBlock
				else
					readBlock(block, op); //> call Xceiver.readBlock
			}
		} catch (InterruptedException e) {
			LOG.error("run stops", e); //= error!: run stops
		}
	}

	void writeBlock(Block block, String client) {
		LOG.info("Receiving block " + block + " from " + client); //= info: Receiving block {Xceiver$Block.pool:text}:blk_{Xceiver$Block.id:integer}_{Xceiver$Block.stamp:integer} from {}
		receive(block);
		block.setStamp(System.nanoTime());
		LOG.info("Received block " + block); //= info: Received block {}:blk_{}_{}
	}

	private void receive(Block block) {
		new Thread(new Responder(block)).start(); //> start Xceiver$Responder.run
		LOG.info("Packets of " + block.getId()); //= info: Packets of {Xceiver$Block.id:integer}
	}

	void readBlock(Block block, String client) {
		LOG.info("Sending block " + block); //= info: Sending block {}:blk_{}_{}
		LOG.info("Sent block " + block.getId() + " to " + client); //= info: Sent block {Xceiver$Block.id:integer} to {}
	}

	static class Responder implements Runnable {
		private final Block block;

		Responder(Block block) {
			this.block = block;
		}

		@Override
		public void run() {
			LOG.info("Responder for " + block.getId() + " begins"); //= info: Responder for {} begins
			LOG.info("Responder for " + block.getId() + " ends"); //= info: Responder for {} ends
		}
	}

	public static void main(String[] args) {
		new Thread(new Xceiver()).start(); //> start Xceiver.run
	}
}
