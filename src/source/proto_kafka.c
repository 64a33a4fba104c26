/*
 * Kafka: a length, and then for a request its kind, version, correlation id and client, for an
 * answer the correlation id. Of what is produced and fetched the first topic is read as well,
 * unless the version names it by a number.
 */
#include <ctype.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define MESSAGE_BYTES_MAX ((uint64_t)256 << 20)
#define LOOK_BYTES 1024
#define VERSION_MAX 20

static const char *const apis[] = {
	"Produce",
	"Fetch",
	"ListOffsets",
	"Metadata",
	"LeaderAndIsr",
	"StopReplica",
	"UpdateMetadata",
	"ControlledShutdown",
	"OffsetCommit",
	"OffsetFetch",
	"FindCoordinator",
	"JoinGroup",
	"Heartbeat",
	"LeaveGroup",
	"SyncGroup",
	"DescribeGroups",
	"ListGroups",
	"SaslHandshake",
	"ApiVersions",
	"CreateTopics",
	"DeleteTopics",
	"DeleteRecords",
	"InitProducerId",
	"OffsetForLeaderEpoch",
	"AddPartitionsToTxn",
	"AddOffsetsToTxn",
	"EndTxn",
	"WriteTxnMarkers",
	"TxnOffsetCommit",
	"DescribeAcls",
	"CreateAcls",
	"DeleteAcls",
	"DescribeConfigs",
	"AlterConfigs",
	"AlterReplicaLogDirs",
	"DescribeLogDirs",
	"SaslAuthenticate",
	"CreatePartitions",
	"CreateDelegationToken",
	"RenewDelegationToken",
	"ExpireDelegationToken",
	"DescribeDelegationToken",
	"DeleteGroups",
	"ElectLeaders",
	"IncrementalAlterConfigs",
	"AlterPartitionReassignments",
	"ListPartitionReassignments",
	"OffsetDelete",
	"DescribeClientQuotas",
	"AlterClientQuotas",
	"DescribeUserScramCredentials",
	"AlterUserScramCredentials",
	"Vote",
	"BeginQuorumEpoch",
	"EndQuorumEpoch",
	"DescribeQuorum",
	"AlterPartition",
	"UpdateFeatures",
	"Envelope",
	"FetchSnapshot",
	"DescribeCluster",
	"DescribeProducers",
	"BrokerRegistration",
	"BrokerHeartbeat",
	"UnregisterBroker",
	"DescribeTransactions",
	"ListTransactions",
	"AllocateProducerIds",
	"ConsumerGroupHeartbeat",
	"ConsumerGroupDescribe",
	"ControllerRegistration",
	"GetTelemetrySubscriptions",
	"PushTelemetry",
	"AssignReplicasToDirs",
	"ListClientMetricsResources",
	"DescribeTopicPartitions",
	"ShareGroupHeartbeat",
	"ShareGroupDescribe",
	"ShareFetch",
	"ShareAcknowledge",
	"AddRaftVoter",
	"RemoveRaftVoter",
	"UpdateRaftVoter",
	"InitializeShareGroupState",
	"ReadShareGroupState",
	"WriteShareGroupState",
	"DeleteShareGroupState",
	"ReadShareGroupStateSummary",
	"StreamsGroupHeartbeat",
	"StreamsGroupDescribe",
	"DescribeShareGroupOffsets",
};

enum { API_PRODUCE = 0, API_FETCH = 1, NR_APIS = sizeof(apis) / sizeof(*apis) };

struct request {
	uint64_t bytes, api, version, correlation;
	struct str client, body;
};

/* A text with its length in front; -1 is none. */
static bool take_text(struct str *s, struct str *text)
{
	uint64_t n;

	if (!take_be(s, 2, &n))
		return false;
	*text = (struct str){ 0 };
	return n == 0xffff || (n < 32768 && take_part(s, n, text));
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isprint((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool take_request(struct str s, struct request *r)
{
	if (!take_be(&s, 4, &r->bytes) || !take_be(&s, 2, &r->api) ||
	    !take_be(&s, 2, &r->version) || !take_be(&s, 4, &r->correlation) ||
	    !take_text(&s, &r->client))
		return false;
	r->bytes += 4;
	r->body = s;
	return r->api < NR_APIS && r->version <= VERSION_MAX && r->bytes >= 14 &&
	       r->bytes <= MESSAGE_BYTES_MAX && r->client.n < 256 && is_printable(r->client) &&
	       14 + r->client.n <= r->bytes;
}

static int looks(struct str s, bool from_client)
{
	struct request r;
	uint64_t n;

	if (from_client) {
		if (!take_request(s, &r))
			return 0;
		return r.client.n && (r.bytes == s.n || s.n > 512) ? 80 : r.client.n ? 65 : 25;
	}
	return take_be(&s, 4, &n) && n >= 4 && n == s.n ? 20 : 0;
}

/* From some version on lengths are varints that count one more, so that 0 is none. */
static bool take_compact(struct str *s, uint64_t *n)
{
	if (!str_take_varint(s, n))
		return false;
	*n -= *n > 0;
	return true;
}

/* The list of topics: how many, and the name of the first. */
static struct str first_topic(struct str s, bool is_compact)
{
	struct str text = { 0 };
	uint64_t nr, n;
	bool good;

	if (is_compact)
		good = take_compact(&s, &nr) && take_compact(&s, &n) && take_part(&s, n, &text);
	else
		good = take_be(&s, 4, &nr) && take_text(&s, &text);
	return good && nr >= 1 && nr <= 100000 && is_printable(text) ? str_head(text, 64)
								     : (struct str){ 0 };
}

/* A name of the transaction, how many must have it, and how long that may take. */
static struct str produced_topic(const struct request *r, bool *is_one_way)
{
	bool is_compact = r->version >= 9;
	struct str s = r->body, text;
	uint64_t acks, tags, n;

	if (is_compact && (!str_take_varint(&s, &tags) || tags || !take_compact(&s, &n) ||
			   !take_part(&s, n, &text)))
		return (struct str){ 0 };
	if (!is_compact && r->version >= 3 && !take_text(&s, &text))
		return (struct str){ 0 };
	if (!take_be(&s, 2, &acks))
		return (struct str){ 0 };
	*is_one_way = !acks;
	return first_topic(str_skip(s, 4), is_compact);
}

/* Numbers of a width that the version tells; from 13 on topics have numbers, too. */
static struct str fetched_topic(const struct request *r)
{
	size_t skip = 12 + (r->version >= 3 ? 4 : 0) + (r->version >= 4 ? 1 : 0) +
		      (r->version >= 7 ? 8 : 0);
	bool is_compact = r->version >= 12;
	struct str s = r->body;
	uint64_t tags;

	if (r->version > 12 || (is_compact && (!str_take_varint(&s, &tags) || tags)))
		return (struct str){ 0 };
	return first_topic(str_skip(s, skip), is_compact);
}

static struct str topic_of(const struct request *r, bool *is_one_way)
{
	if (r->api == API_PRODUCE)
		return produced_topic(r, is_one_way);
	return r->api == API_FETCH ? fetched_topic(r) : (struct str){ 0 };
}

static int64_t ask(struct talk *t, struct str s)
{
	struct request r;
	struct buf title = { 0 };
	struct message m = { 0 };
	struct str topic;
	bool is_one_way = false;

	if (s.n < 14 || (bytes_be(s.p + 12, 2) < 256 && s.n < 14 + bytes_be(s.p + 12, 2)))
		return PROTO_MORE;
	if (!take_request(s, &r))
		return PROTO_LOST;
	if (s.n < r.bytes && s.n < LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	topic = topic_of(&r, &is_one_way);
	buf_add(&title, str_of(apis[r.api]));
	if (topic.n)
		buf_char(&title, ' ');
	buf_add(&title, topic);
	m.title = buf_str(&title);
	m.bytes = r.bytes;
	m.match = r.correlation + 1;
	if (talk_may_trace(t))
		trace_scan(&m.trace, str_head(r.body, (size_t)r.bytes));
	if (is_one_way)
		talk_sent(t, &m);
	else
		talk_call(t, &m);
	buf_done(&title);
	return (int64_t)r.bytes;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct message m = { 0 };

	if (talk_is_client(t, side))
		return ask(t, s);
	if (s.n < 8)
		return PROTO_MORE;
	m.bytes = bytes_be(s.p, 4) + 4;
	m.match = bytes_be(s.p + 4, 4) + 1;
	if (m.bytes < 8 || m.bytes > MESSAGE_BYTES_MAX)
		return PROTO_LOST;
	talk_return(t, &m);
	return (int64_t)m.bytes;
}

const struct proto proto_kafka = {
	.name = "kafka",
	.ports = { 9092, 9093, 9094, 29092 },
	.looks = looks,
	.parse = parse,
};
