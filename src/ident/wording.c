#include "ident/wording.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NR(a) (sizeof(a) / sizeof(*(a)))

/* All lists are sorted, in small letters. */
static const char *const units[] = {
	"b",      "bit",     "bits",  "byte", "bytes",   "d",          "day", "days",
	"gb",     "gib",     "h",     "hour", "hours",   "hrs",        "hz",  "k",
	"kb",     "kbps",    "kib",   "m",    "mb",      "mbps",       "mhz", "mib",
	"micros", "millis",  "min",   "mins", "minute",  "minutes",    "ms",  "msec",
	"msecs",  "nanos",   "ns",    "pb",   "percent", "percentile", "s",   "sec",
	"second", "seconds", "secs",  "tb",   "tib",     "times",      "us",  "usec",
	"weeks",  "x",       "years",
};

static const char *const functions[] = {
	"a",      "after", "an",   "and", "are",  "as",   "at",    "be",   "been",
	"before", "but",   "by",   "for", "from", "had",  "has",   "have", "in",
	"into",   "is",    "it",   "its", "new",  "not",  "of",    "on",   "or",
	"that",   "the",   "this", "to",  "was",  "were", "which", "will", "with",
};

/* Keys of amounts, states and places; and what is no noun. */
static const char *const amounts[] = {
	"about",      "acks",      "actual",      "address",     "after",       "age",
	"all",        "allocated", "an",          "and",         "apr",         "are",
	"as",         "at",        "attempts",    "aug",         "available",   "average",
	"avg",        "backlog",   "backoff",     "bandwidth",   "batch",       "been",
	"before",     "began",     "behind",      "buffer",      "built",       "by",
	"bytes",      "cache",     "capacity",    "chunk",       "code",        "col",
	"column",     "columns",   "concurrency", "cores",       "cost",        "count",
	"counter",    "cpu",       "current",     "date",        "day",         "dec",
	"default",    "delay",     "delta",       "depth",       "deviation",   "disk",
	"done",       "duration",  "elapsed",     "epoch",       "eq",          "error",
	"estimated",  "every",     "expected",    "expiry",      "factor",      "feb",
	"flags",      "for",       "found",       "fraction",    "free",        "fri",
	"from",       "ge",        "generation",  "got",         "growth",      "gt",
	"had",        "has",       "have",        "heap",        "height",      "held",
	"in",         "index",     "initial",     "interval",    "into",        "is",
	"iteration",  "its",       "jan",         "jul",         "jun",         "kept",
	"lag",        "latency",   "le",          "least",       "left",        "len",
	"length",     "level",     "limit",       "line",        "live",        "load",
	"loop",       "lost",      "lt",          "made",        "mar",         "max",
	"maximum",    "may",       "mean",        "median",      "mem",         "memory",
	"met",        "min",       "minimum",     "mode",        "mon",         "month",
	"more",       "most",      "ms",          "ne",          "neq",         "new",
	"not",        "nov",       "ns",          "num",         "oct",         "of",
	"off",        "offset",    "old",         "on",          "only",        "or",
	"over",       "paid",      "parallelism", "per",         "percent",     "percentage",
	"percentile", "period",    "port",        "pos",         "position",    "pri",
	"priority",   "progress",  "protocol",    "quota",       "ran",         "rank",
	"rate",       "ratio",     "read",        "remaining",   "replication", "resident",
	"rest",       "result",    "retry",       "revision",    "rss",         "sat",
	"saw",        "score",     "seconds",     "sent",        "sep",         "seq",
	"seqid",      "sequence",  "signal",      "since",       "size",        "skip",
	"sleep",      "slept",     "slots",       "space",       "speed",       "spent",
	"state",      "status",    "step",        "sum",         "sun",         "than",
	"the",        "threshold", "throughput",  "thu",         "tick",        "time",
	"timeout",    "timestamp", "to",          "took",        "total",       "tries",
	"ts",         "ttl",       "tue",         "umask",       "until",       "up",
	"uptime",     "usage",     "used",        "utilization", "value",       "ver",
	"version",    "vmem",      "wait",        "was",         "wed",         "weight",
	"width",      "will",      "with",        "within",      "words",       "write",
	"wrote",      "year",      "years",       "zone",
};

/* What a word behind these describes, it does not name it. */
static const char *const descriptions[] = {
	"action",      "algorithm", "auth",    "cause",       "charset",     "class",
	"cmd",         "codec",     "command", "comment",     "comparator",  "compression",
	"description", "encoding",  "env",     "environment", "event",       "exception",
	"filter",      "format",    "impl",    "kind",        "language",    "locale",
	"message",     "method",    "mode",    "msg",         "op",          "operation",
	"options",     "parameter", "perm",    "permission",  "permissions", "phase",
	"policy",      "property",  "reason",  "scheme",      "severity",    "strategy",
	"target",      "type",      "unit",
};

static const char *const suffixes[] = {
	"c",      "cc", "clj", "cpp", "cs",   "cxx",   "erl", "ex",    "go",
	"groovy", "h",  "hpp", "hs",  "java", "js",    "kt",  "lua",   "m",
	"php",    "pl", "py",  "rb",  "rs",   "scala", "sql", "swift", "ts",
};

/* What these words stand in front of is called by a word of its own. */
static const char *const nouns[] = {
	"account",  "bucket",    "client",  "cluster", "collection", "consumer", "customer",
	"database", "db",        "group",   "host",    "hostname",   "index",    "instance",
	"job",      "keyspace",  "machine", "member",  "namespace",  "node",     "owner",
	"pool",     "principal", "project", "queue",   "role",       "schema",   "server",
	"service",  "shard",     "stream",  "table",   "tenant",     "topic",    "user",
	"username", "volume",    "worker",
};

static const char *const prepositions[] = {
	"at", "by", "for", "from", "in", "into", "of", "on", "to", "with",
};

static const char *const voids[] = {
	"any",  "auto", "default", "disabled", "enabled",   "false",   "nil",   "no",  "none",
	"null", "off",  "on",      "true",     "undefined", "unknown", "unset", "yes",
};

static const char *const calendar[] = {
	"apr",       "april",     "aug",    "august",  "dec",      "december", "feb",
	"february",  "fri",       "friday", "jan",     "january",  "jul",      "july",
	"jun",       "june",      "mar",    "march",   "may",      "mon",      "monday",
	"nov",       "november",  "oct",    "october", "sat",      "saturday", "sep",
	"september", "sun",       "sunday", "thu",     "thursday", "tue",      "tuesday",
	"wed",       "wednesday",
};

/* Words that end in "id" and are not the id of something. */
static const char *const not_ids[] = {
	"android", "avoid", "fluid", "grid",  "hybrid", "invalid", "liquid", "overlaid",
	"paid",    "rapid", "said",  "solid", "unpaid", "valid",   "void",
};

static int by_name(const void *key, const void *entry)
{
	const struct str *s = key;

	return str_cmp(*s, str_of(*(const char *const *)entry));
}

static bool is_in(struct str word, const char *const *list, size_t nr)
{
	char small[WORDING_KEY];
	struct str s = { small, word.n };

	if (!word.n || word.n > sizeof(small))
		return false;
	for (size_t i = 0; i < word.n; i++)
		small[i] = (char)tolower((unsigned char)word.p[i]);
	return bsearch(&s, list, nr, sizeof(*list), by_name);
}

bool wording_is_unit(struct str word)
{
	return is_in(word, units, NR(units));
}

bool wording_is_function(struct str word)
{
	return is_in(word, functions, NR(functions));
}

bool wording_is_source_suffix(struct str word)
{
	return is_in(word, suffixes, NR(suffixes));
}

bool wording_is_noun_of_names(struct str word)
{
	return is_in(word, nouns, NR(nouns));
}

bool wording_is_void(struct str word)
{
	return is_in(word, voids, NR(voids));
}

bool wording_is_preposition(struct str word)
{
	return is_in(word, prepositions, NR(prepositions));
}

bool wording_is_calendar(struct str word)
{
	return is_in(word, calendar, NR(calendar));
}

bool wording_is_description(struct str word)
{
	return is_in(word, descriptions, NR(descriptions));
}

bool wording_is_plural(struct str w)
{
	if (w.n < 4 || w.p[w.n - 1] != 's')
		return false;
	return !strchr("sui", w.p[w.n - 2]) && !str_eq(w, STR("alias")) &&
	       !str_eq(w, STR("this")) && !str_eq(w, STR("does"));
}

bool wording_is_verb(struct str w)
{
	return (w.n > 5 && str_ends(w, STR("ing"))) || (w.n > 4 && str_ends(w, STR("ed")));
}

bool wording_is_amount(struct str key)
{
	return key.n < 2 || is_in(key, amounts, NR(amounts)) || is_in(key, units, NR(units)) ||
	       wording_is_verb(key) || wording_is_plural(key);
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The last part of a compound that ends at w.n: parted by signs, or by capitals as in camelCase. */
static struct str last_part(struct str w)
{
	size_t at = w.n;

	while (at && !is_letter(w.p[at - 1]))
		at--;
	w.n = at;
	while (at && is_letter(w.p[at - 1])) {
		bool starts = isupper((unsigned char)w.p[at - 1]) && at < w.n &&
			      islower((unsigned char)w.p[at]);

		at--;
		if (starts)
			break;
		/* the end of ABCDef's first part, or of abcDEF's */
		if (at && islower((unsigned char)w.p[at - 1]) && isupper((unsigned char)w.p[at]))
			break;
	}
	return str_skip(w, at);
}

static bool says_only_which(struct str part)
{
	return str_eq_nocase(part, STR("id")) || str_eq_nocase(part, STR("ids")) ||
	       str_eq_nocase(part, STR("name")) || str_eq_nocase(part, STR("number")) ||
	       str_eq_nocase(part, STR("no")) || str_eq_nocase(part, STR("nr")) ||
	       str_eq_nocase(part, STR("uuid")) || str_eq_nocase(part, STR("key"));
}

size_t wording_key(struct str word, char to[WORDING_KEY])
{
	struct str part = last_part(word);

	if (part.n && says_only_which(part))
		part = last_part(str_head(word, (size_t)(part.p - word.p)));
	if (!part.n || part.n > WORDING_KEY)
		return 0;
	for (size_t i = 0; i < part.n; i++)
		to[i] = (char)tolower((unsigned char)part.p[i]);
	part.p = to;
	if (part.n > 5 && str_ends(part, STR("id")) && !is_in(part, not_ids, NR(not_ids)))
		part.n -= 2;
	return part.n;
}
