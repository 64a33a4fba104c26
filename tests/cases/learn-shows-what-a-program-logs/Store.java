/* A little server that keeps blocks. The classes beside were made from it:
 *	javac -g:source,lines -cp SLF4J -d classes Store.java
 */
package store;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class Block {
	final long id;
	long length;

	Block(long id) {
		this.id = id;
	}

	@Override
	public String toString() {
		return "blk_" + id;
	}
}

class Call {
	Block block;
	String from;
}

/* Answers when a block is safe, in a thread of its own. */
class Responder implements Runnable {
	private static final Logger LOG = LoggerFactory.getLogger(Responder.class);
	private final Block block;

	Responder(Block block) {
		this.block = block;
	}

	@Override
	public void run() {
		LOG.info("Responder for {} waits", block);
		LOG.info("Responder for {} terminates", block);
	}
}

class Server implements Runnable {
	private static final Logger LOG = LoggerFactory.getLogger(Server.class);
	private final BlockingQueue<Call> calls;

	Server(BlockingQueue<Call> calls) {
		this.calls = calls;
	}

	@Override
	public void run() {
		try {
			for (;;) {
				Call call = calls.take();

				write(call.block, call.from);
			}
		} catch (InterruptedException e) {
			LOG.warn("Server ends", e);
		}
	}

	void write(Block block, String from) {
		LOG.info("Receiving {} src: {}", block, from);
		new Thread(new Responder(block)).start();
		try {
			for (int i = 0; i < block.length; i++)
				packet(block, i);
			if (block.length > 1024)
				LOG.info("Block {} is large", block);
			else
				LOG.info("Block {} is small", block);
		} catch (IOException e) {
			LOG.warn("Cannot store " + block, e);
		}
		LOG.info("Received " + block + " from " + from);
	}

	private void packet(Block block, int nr) throws IOException {
		if (LOG.isDebugEnabled())
			LOG.debug("Packet of {}", block);
		if (nr < 0)
			throw new IOException("no such packet");
	}

	public static void main(String[] args) {
		new Thread(new Server(new java.util.concurrent.LinkedBlockingQueue<>())).start();
	}
}
