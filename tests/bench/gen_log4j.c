/*
 * Writes a log4j log like that of a busy storage node, always the same for the same seed.
 *
 * usage: gen_log4j BYTES SEED > file
 *
 * Requests overlap: each of a ring of blocks is somewhere in its sequence of statements, and every
 * line takes the next statement of one of them, or is background. About one request in a hundred
 * is slow, one line in twenty-five is a WARN, and some errors carry a stack trace.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 1 << 20,
	LINE_BYTES_MAX = 4096,
	NR_BLOCKS = 64, /* requests in flight */
};

struct gen {
	uint64_t seed;
	int64_t ms;     /* of the day that the log begins */
	char stamp[32]; /* "2026-03-02 10:00:00,000 " of stamp_second, millis filled in each time */
	int64_t stamp_second;
	uint64_t next_block;
	struct {
		uint64_t id;
		unsigned step, thread;
	} blocks[NR_BLOCKS];
	char *at;
};

static const char *const levels[] = { "INFO ", "WARN ", "ERROR", "DEBUG" };
enum { INFO, WARN, ERROR, DEBUG };

/* %B block, %A address, %N small number, %L large number, %H hex word */
static const struct {
	unsigned level;
	const char *logger, *text;
} steps[] = {
	{ INFO, "server.datanode.DataNode",
	  "Receiving BP-1850121094-10.0.0.7-1772445600000:%B src: /%A dest: /%A" },
	{ DEBUG, "server.datanode.BlockReceiver", "%B: opened replica file, generation stamp %N" },
	{ INFO, "server.datanode.BlockReceiver", "%B: enqueue packet seqno %N lastPacketInBlock false" },
	{ DEBUG, "server.datanode.BlockReceiver", "%B: flushed %L bytes to disk in %N us" },
	{ INFO, "server.datanode.PacketResponder",
	  "PacketResponder: %B, type=HAS_DOWNSTREAM_IN_PIPELINE, downstreams=1:[%A] terminating" },
	{ INFO, "server.datanode.clienttrace",
	  "src: /%A, dest: /%A, bytes: %L, op: HDFS_WRITE, cliID: DFSClient_NONMAPREDUCE_%N_1, "
	  "offset: 0, blockid: %B, duration(ns): %L" },
}, background[] = {
	{ INFO, "ipc.Server", "IPC Server handler %N on default port 9867: responding to Call#%N" },
	{ DEBUG, "server.datanode.DataNode", "Sent heartbeat with %N storage reports, took %N ms" },
	{ WARN, "util.JvmPauseMonitor", "Detected pause in JVM or host machine: pause of approximately %Nms" },
	{ INFO, "server.datanode.FsDatasetImpl", "Lock held for %N ms by thread DataXceiver, threshold 300" },
	{ INFO, "server.datanode.VolumeScanner", "VolumeScanner(/data/%N): finished scanning after %L ms" },
	{ DEBUG, "security.UserGroupInformation", "PrivilegedAction as:hdfs (auth:SIMPLE) from:%H" },
};

static const char failure[] =
	"java.io.IOException: Premature EOF from inputStream\n"
	"\tat org.apache.hadoop.io.IOUtils.readFully(IOUtils.java:212)\n"
	"\tat "
	"org.apache.hadoop.hdfs.protocol.datatransfer.PacketReceiver.doRead(PacketReceiver.java:"
	"135)\n"
	"\tat "
	"org.apache.hadoop.hdfs.server.datanode.BlockReceiver.receiveBlock(BlockReceiver.java:528)"
	"\n"
	"\tat org.apache.hadoop.hdfs.server.datanode.DataXceiver.run(DataXceiver.java:290)\n"
	"\tat java.base/java.lang.Thread.run(Thread.java:840)\n";

/* splitmix64 */
static uint64_t gen_random(struct gen *g)
{
	uint64_t z = g->seed += 0x9e3779b97f4a7c15U;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static char *put_text(char *at, const char *text)
{
	size_t n = strlen(text);

	memcpy(at, text, n);
	return at + n;
}

static char *put_number(char *at, uint64_t n)
{
	char digits[20];
	int nr = 0;

	do
		digits[nr++] = (char)('0' + n % 10);
	while (n /= 10);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static char *put_padded(char *at, unsigned n, int width)
{
	for (int i = width; i-- > 0; n /= 10)
		at[i] = (char)('0' + n % 10);
	return at + width;
}

static void put_stamp(struct gen *g)
{
	int64_t second = g->ms / 1000;

	if (second != g->stamp_second) {
		unsigned of_day = (unsigned)(second % 86400);
		char *at = put_text(g->stamp, "2026-03-");

		at = put_padded(at, (unsigned)(1 + second / 86400 % 28), 2);
		*at++ = ' ';
		at = put_padded(at, of_day / 3600, 2);
		*at++ = ':';
		at = put_padded(at, of_day / 60 % 60, 2);
		*at++ = ':';
		at = put_padded(at, of_day % 60, 2);
		*at++ = ',';
		g->stamp_second = second;
	}
	memcpy(g->at, g->stamp, 20);
	g->at = put_padded(g->at + 20, (unsigned)(g->ms % 1000), 3);
	*g->at++ = ' ';
}

static char *put_address(char *at, uint64_t r)
{
	at = put_text(at, "10.0.");
	at = put_number(at, r % 4);
	*at++ = '.';
	at = put_number(at, (r >> 8) % 250 + 1);
	*at++ = ':';
	return put_number(at, (r >> 16) % 28000 + 32768);
}

static char *put_hex(char *at, uint64_t r)
{
	for (int i = 0; i < 16; i++, r >>= 4)
		*at++ = "0123456789abcdef"[r & 15];
	return at;
}

static char *put_block(char *at, uint64_t id)
{
	at = put_text(at, "blk_");
	at = put_number(at, 1073741825 + id);
	*at++ = '_';
	return put_number(at, 1001 + id);
}

static void put_message(struct gen *g, const char *text, uint64_t block)
{
	for (const char *hole; (hole = strchr(text, '%')); text = hole + 2) {
		memcpy(g->at, text, (size_t)(hole - text));
		g->at += hole - text;
		switch (hole[1]) {
		case 'B':
			g->at = put_block(g->at, block);
			break;
		case 'A':
			g->at = put_address(g->at, gen_random(g));
			break;
		case 'H':
			g->at = put_hex(g->at, gen_random(g));
			break;
		case 'L':
			g->at = put_number(g->at, gen_random(g) % 134217728);
			break;
		default:
			g->at = put_number(g->at, gen_random(g) % 5000);
		}
	}
	g->at = put_text(g->at, text);
	*g->at++ = '\n';
}

static void put_line(struct gen *g, unsigned level, const char *thread, unsigned nr,
		     const char *logger, const char *text, uint64_t block)
{
	put_stamp(g);
	g->at = put_text(g->at, levels[level]);
	g->at = put_text(g->at, " [");
	g->at = put_text(g->at, thread);
	g->at = put_number(g->at, nr);
	g->at = put_text(g->at, "] org.apache.hadoop.hdfs.");
	g->at = put_text(g->at, logger);
	g->at = put_text(g->at, ": ");
	put_message(g, text, block);
}

/* The next statement of one of the requests in flight, or a line of the background. */
static void put_event(struct gen *g)
{
	uint64_t r = gen_random(g);
	unsigned nr = (unsigned)(r >> 8) % NR_BLOCKS;

	g->ms += (r & 3) == 0;
	if (r >> 56 < 64) {
		unsigned b = (unsigned)(r >> 16) % (sizeof(background) / sizeof(*background));

		put_line(g, background[b].level, "IPC Server handler ", nr, background[b].logger,
			 background[b].text, 0);
		return;
	}
	if (g->blocks[nr].step == 0) {
		g->blocks[nr].id = g->next_block++;
		g->blocks[nr].thread = (unsigned)(r >> 20) % 4096;
	} else if (g->blocks[nr].id % 100 == 17 && (r >> 30) % 16) {
		return; /* a slow request: it mostly stands still */
	}
	unsigned step = g->blocks[nr].step++;

	put_line(g, steps[step].level, "DataXceiver for client DFSClient_", g->blocks[nr].thread,
		 steps[step].logger, steps[step].text, g->blocks[nr].id);
	if (g->blocks[nr].step == sizeof(steps) / sizeof(*steps))
		g->blocks[nr].step = 0;
	if (r >> 36 & 0x7ff)
		return;
	put_line(g, ERROR, "DataXceiver for client DFSClient_", g->blocks[nr].thread,
		 "server.datanode.DataNode",
		 "dn1:9866:DataXceiver error processing WRITE_BLOCK, %B", g->blocks[nr].id);
	g->at = put_text(g->at, failure);
}

static bool write_all(const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(STDOUT_FILENO, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		bytes -= (size_t)n;
	}
	return true;
}

int main(int argc, char **argv)
{
	static char buffer[BUFFER_BYTES];
	struct gen g = { .ms = 36000000, .stamp_second = -1, .at = buffer };
	uint64_t left;

	if (argc != 3) {
		fprintf(stderr, "usage: gen_log4j BYTES SEED > file\n");
		return 2;
	}
	left = strtoull(argv[1], NULL, 10);
	g.seed = strtoull(argv[2], NULL, 10);
	while (left) {
		size_t bytes;

		put_event(&g);
		if (g.at < buffer + BUFFER_BYTES - LINE_BYTES_MAX && (size_t)(g.at - buffer) < left)
			continue;
		bytes = (size_t)(g.at - buffer);
		if (!write_all(buffer, bytes)) {
			fprintf(stderr, "gen_log4j: cannot write: %s\n", strerror(errno));
			return 1;
		}
		left -= bytes < left ? bytes : left;
		g.at = buffer;
	}
	return 0;
}
