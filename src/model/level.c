#include "model/level.h"

static const struct {
	const char *word;
	enum level level;
} words[] = {
	{ "trace", LEVEL_TRACE },
	{ "finest", LEVEL_TRACE },
	{ "finer", LEVEL_TRACE },
	{ "verbose", LEVEL_TRACE },
	{ "trc", LEVEL_TRACE },
	{ "debug", LEVEL_DEBUG },
	{ "dbg", LEVEL_DEBUG },
	{ "fine", LEVEL_DEBUG },
	{ "config", LEVEL_DEBUG },
	{ "info", LEVEL_INFO },
	{ "inf", LEVEL_INFO },
	{ "information", LEVEL_INFO },
	{ "informational", LEVEL_INFO },
	{ "notice", LEVEL_INFO },
	{ "note", LEVEL_INFO },
	{ "system", LEVEL_INFO },
	{ "log", LEVEL_INFO },
	{ "warn", LEVEL_WARN },
	{ "warning", LEVEL_WARN },
	{ "wrn", LEVEL_WARN },
	{ "error", LEVEL_ERROR },
	{ "err", LEVEL_ERROR },
	{ "severe", LEVEL_ERROR },
	{ "fatal", LEVEL_FATAL },
	{ "crit", LEVEL_FATAL },
	{ "critical", LEVEL_FATAL },
	{ "alert", LEVEL_FATAL },
	{ "emerg", LEVEL_FATAL },
	{ "emergency", LEVEL_FATAL },
	{ "panic", LEVEL_FATAL },
	{ "dpanic", LEVEL_FATAL },
	{ "ftl", LEVEL_FATAL },
	{ "i", LEVEL_INFO },
	{ "w", LEVEL_WARN },
	{ "e", LEVEL_ERROR },
	{ "f", LEVEL_FATAL },
	{ "d", LEVEL_DEBUG },
	{ "t", LEVEL_TRACE },
	{ "debug1", LEVEL_DEBUG },
	{ "debug2", LEVEL_DEBUG },
	{ "debug3", LEVEL_DEBUG },
	{ "debug4", LEVEL_DEBUG },
	{ "debug5", LEVEL_DEBUG },
};

static enum level search(struct str word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq_nocase(word, str_of(words[i].word)))
			return words[i].level;
	return LEVEL_NONE;
}

enum level level_of(struct str word)
{
	/* nearly every line says one of these, spelled like this */
	switch (word.n) {
	case 4:
		if (!memcmp(word.p, "INFO", 4))
			return LEVEL_INFO;
		if (!memcmp(word.p, "WARN", 4))
			return LEVEL_WARN;
		break;
	case 5:
		if (!memcmp(word.p, "DEBUG", 5))
			return LEVEL_DEBUG;
		if (!memcmp(word.p, "ERROR", 5))
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
