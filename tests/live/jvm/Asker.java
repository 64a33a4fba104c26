import java.io.DataInputStream;
import java.io.File;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Asks a native server (tests/live/chain.c), one request after the other, each known by its number: begins when a file is there.
 *
 * usage: Asker PORT FILE REQUESTS
 */
public final class Asker {
    static final int BYTES = 16;

    static void begin(long id) {
    }

    static void ask(Socket to, long id) throws Exception {
        ByteBuffer message = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        byte[] answer = new byte[BYTES];

        begin(id);
        message.putInt(BYTES).putInt(0).putLong(id);
        OutputStream out = to.getOutputStream();
        out.write(message.array());
        DataInputStream in = new DataInputStream(to.getInputStream());
        in.readFully(answer);
        ByteBuffer head = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
        in.readFully(new byte[head.getInt(0) - BYTES]);
        if (head.getLong(8) != id)
            throw new IllegalStateException("not the answer to " + id);
    }

    public static void main(String[] args) throws Exception {
        File file = new File(args[1]);
        try (Socket to = new Socket("127.0.0.1", Integer.parseInt(args[0]))) {
            ask(to, 0);
            System.out.println("ready");
            for (int i = 0; !file.exists() && i < 120_000; i++)
                Thread.sleep(10);
            // the server has waited for this one since before anybody looked on
            ask(to, 0);
            for (long id = 1; id <= Long.parseLong(args[2]); id++)
                ask(to, id);
            System.out.println("done");
            for (int i = 0; file.exists() && i < 120_000; i++)
                Thread.sleep(10);
        }
    }
}
