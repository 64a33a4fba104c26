import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.NameNodeProxiesClient;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.ipc.Client;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.concurrent.AsyncGet;

/**
 * Later GO TRUTH REQUESTS: one thread asks a NameNode and does not wait for the answers; another one does, which has each from a field, so that only
 * the answer itself tells it who asked.
 */
public class Later {
	static volatile AsyncGet<?, Exception> asked;

	static void ask(int i, ClientProtocol nameNode) throws Exception {
		nameNode.setPermission("/stress/" + i % 12, new FsPermission((short) 0644));
	}

	static void await() {
	}

	static void answered(int i) {
	}

	static void take(int nr) {
		try {
			for (int i = 0; i < nr; i++) {
				while (asked == null)
					Thread.yield();
				AsyncGet<?, Exception> answer = asked;

				asked = null;
				await();
				answer.get(60, TimeUnit.SECONDS);
				answered(i);
			}
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int nr = Integer.parseInt(args[2]);
		ClientProtocol nameNode = NameNodeProxiesClient.createNonHAProxyWithClientProtocol(new InetSocketAddress("127.0.0.1", 8020),
				new Configuration(), UserGroupInformation.getCurrentUser(), false, null);
		Thread taker = new Thread(() -> take(nr));

		while (!Files.exists(Paths.get(args[0])))
			Thread.sleep(10);
		Client.setAsynchronousMode(true);
		taker.start();
		for (int i = 0; i < nr; i++) {
			ask(i, nameNode);
			AsyncGet<?, Exception> answer = ProtobufRpcEngine2.getAsyncReturnMessage();

			while (asked != null)
				Thread.yield();
			asked = answer;
		}
		taker.join();
		Files.write(Paths.get(args[1]), ("requests\tall\t" + nr + "\n").getBytes());
		while (Files.exists(Paths.get(args[0])))
			Thread.sleep(10);
		System.exit(0);
	}
}
