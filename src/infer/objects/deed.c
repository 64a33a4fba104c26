#include "infer/objects/deed.h"

/* Beginnings of English verbs; a word is looked up in lower case. */
static const struct {
	struct str verb;
	enum relation_deed deed;
} verbs[] = {
	{ STR("creat"), DEED_CREATED },     { STR("start"), DEED_CREATED },
	{ STR("launch"), DEED_CREATED },    { STR("allocat"), DEED_CREATED },
	{ STR("submit"), DEED_CREATED },    { STR("assign"), DEED_CREATED },
	{ STR("register"), DEED_CREATED },  { STR("add"), DEED_CREATED },
	{ STR("open"), DEED_CREATED },      { STR("spawn"), DEED_CREATED },
	{ STR("fork"), DEED_CREATED },      { STR("init"), DEED_CREATED },
	{ STR("new"), DEED_CREATED },       { STR("got"), DEED_CREATED },
	{ STR("finish"), DEED_FINISHED },   { STR("complet"), DEED_FINISHED },
	{ STR("releas"), DEED_FINISHED },   { STR("clos"), DEED_FINISHED },
	{ STR("kill"), DEED_FINISHED },     { STR("stop"), DEED_FINISHED },
	{ STR("delet"), DEED_FINISHED },    { STR("remov"), DEED_FINISHED },
	{ STR("terminat"), DEED_FINISHED }, { STR("end"), DEED_FINISHED },
	{ STR("done"), DEED_FINISHED },     { STR("destroy"), DEED_FINISHED },
	{ STR("fail"), DEED_FINISHED },     { STR("abort"), DEED_FINISHED },
	{ STR("read"), DEED_USED },         { STR("us"), DEED_USED },
	{ STR("fetch"), DEED_USED },        { STR("send"), DEED_USED },
	{ STR("receiv"), DEED_USED },       { STR("updat"), DEED_USED },
	{ STR("writ"), DEED_USED },         { STR("dispatch"), DEED_USED },
};

/* What may follow the beginning: create, creates, created, creating, creation. */
static bool is_ending(struct str s)
{
	static const struct str endings[] = {
		STR(""),      STR("e"),       STR("es"),       STR("s"),    STR("ed"),   STR("d"),
		STR("ing"),   STR("ting"),    STR("ted"),      STR("ning"), STR("ned"),  STR("ion"),
		STR("ation"), STR("ialized"), STR("ializing"), STR("ten"),  STR("ping"), STR("ped"),
	};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (str_eq(s, endings[i]))
			return true;
	return false;
}

static enum relation_deed deed_of_word(struct str word)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		struct str verb = verbs[i].verb;

		if (word.n >= verb.n && str_eq_nocase(str_head(word, verb.n), verb) &&
		    is_ending(str_skip(word, verb.n)))
			return verbs[i].deed;
	}
	return DEED_UNKNOWN;
}

enum relation_deed deed_of(struct str title)
{
	enum relation_deed deed = DEED_UNKNOWN;

	for (size_t i = 0, end; i < title.n; i = end + 1) {
		for (end = i; end < title.n; end++) {
			char c = title.p[end] | 0x20;

			if (c < 'a' || c > 'z')
				break;
		}
		if (end > i)
			deed = deed_of_word((struct str){ title.p + i, end - i });
		if (deed != DEED_UNKNOWN)
			break;
	}
	return deed;
}
