#include "model/level.h"

static const struct {
	struct str word; /* in small letters */
	enum level level;
} words[] = {
	{ STR("trace"), LEVEL_TRACE },
	{ STR("finest"), LEVEL_TRACE },
	{ STR("finer"), LEVEL_TRACE },
	{ STR("verbose"), LEVEL_TRACE },
	{ STR("trc"), LEVEL_TRACE },
	{ STR("debug"), LEVEL_DEBUG },
	{ STR("dbg"), LEVEL_DEBUG },
	{ STR("fine"), LEVEL_DEBUG },
	{ STR("config"), LEVEL_DEBUG },
	{ STR("info"), LEVEL_INFO },
	{ STR("inf"), LEVEL_INFO },
	{ STR("information"), LEVEL_INFO },
	{ STR("informational"), LEVEL_INFO },
	{ STR("notice"), LEVEL_INFO },
	{ STR("note"), LEVEL_INFO },
	{ STR("system"), LEVEL_INFO },
	{ STR("log"), LEVEL_INFO },
	{ STR("warn"), LEVEL_WARN },
	{ STR("warning"), LEVEL_WARN },
	{ STR("wrn"), LEVEL_WARN },
	{ STR("error"), LEVEL_ERROR },
	{ STR("err"), LEVEL_ERROR },
	{ STR("severe"), LEVEL_ERROR },
	{ STR("fatal"), LEVEL_FATAL },
	{ STR("crit"), LEVEL_FATAL },
	{ STR("critical"), LEVEL_FATAL },
	{ STR("alert"), LEVEL_FATAL },
	{ STR("emerg"), LEVEL_FATAL },
	{ STR("emergency"), LEVEL_FATAL },
	{ STR("panic"), LEVEL_FATAL },
	{ STR("dpanic"), LEVEL_FATAL },
	{ STR("ftl"), LEVEL_FATAL },
	{ STR("i"), LEVEL_INFO },
	{ STR("w"), LEVEL_WARN },
	{ STR("e"), LEVEL_ERROR },
	{ STR("f"), LEVEL_FATAL },
	{ STR("d"), LEVEL_DEBUG },
	{ STR("t"), LEVEL_TRACE },
	{ STR("debug1"), LEVEL_DEBUG },
	{ STR("debug2"), LEVEL_DEBUG },
	{ STR("debug3"), LEVEL_DEBUG },
	{ STR("debug4"), LEVEL_DEBUG },
	{ STR("debug5"), LEVEL_DEBUG },
};

static enum level search(struct str word)
{
	char first = (char)(word.p[0] | 0x20);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].word.n == word.n && words[i].word.p[0] == first &&
		    str_eq_nocase(word, words[i].word))
			return words[i].level;
	return LEVEL_NONE;
}

enum level level_of(struct str word)
{
	/* nearly every line says one of these, spelled like this */
	switch (word.n) {
	case 4:
		if (!memcmp(word.p, "INFO", 4) || !memcmp(word.p, "info", 4))
			return LEVEL_INFO;
		if (!memcmp(word.p, "WARN", 4) || !memcmp(word.p, "warn", 4))
			return LEVEL_WARN;
		break;
	case 5:
		if (!memcmp(word.p, "DEBUG", 5) || !memcmp(word.p, "debug", 5))
			return LEVEL_DEBUG;
		if (!memcmp(word.p, "ERROR", 5) || !memcmp(word.p, "error", 5))
			return LEVEL_ERROR;
		break;
	default:
		break;
	}
	return word.n && word.n <= 13 ? search(word) : LEVEL_NONE;
}

const char *level_name(enum level level)
{
	static const char *const names[] = {
		"", "trace", "debug", "info", "warn", "error", "fatal"
	};

	return level >= LEVEL_NONE && level <= LEVEL_FATAL ? names[level] : "";
}
