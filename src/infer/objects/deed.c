#include "infer/objects/deed.h"

/* Beginnings of English verbs; a word is looked up in lower case. */
static const struct {
	struct str verb;
	enum relation_deed deed;
} verbs[] = {
	{ STR("creat"), DEED_CREATED },       { STR("start"), DEED_CREATED },
	{ STR("launch"), DEED_CREATED },      { STR("allocat"), DEED_CREATED },
	{ STR("submit"), DEED_CREATED },      { STR("assign"), DEED_CREATED },
	{ STR("register"), DEED_CREATED },    { STR("add"), DEED_CREATED },
	{ STR("open"), DEED_CREATED },        { STR("spawn"), DEED_CREATED },
	{ STR("fork"), DEED_CREATED },        { STR("init"), DEED_CREATED },
	{ STR("new"), DEED_CREATED },         { STR("got"), DEED_CREATED },
	{ STR("accept"), DEED_CREATED },      { STR("begin"), DEED_CREATED },
	{ STR("began"), DEED_CREATED },       { STR("exit"), DEED_FINISHED },
	{ STR("disconnect"), DEED_FINISHED }, { STR("expir"), DEED_FINISHED },
	{ STR("quit"), DEED_FINISHED },       { STR("died"), DEED_FINISHED },
	{ STR("finish"), DEED_FINISHED },     { STR("complet"), DEED_FINISHED },
	{ STR("releas"), DEED_FINISHED },     { STR("clos"), DEED_FINISHED },
	{ STR("kill"), DEED_FINISHED },       { STR("stop"), DEED_FINISHED },
	{ STR("delet"), DEED_FINISHED },      { STR("remov"), DEED_FINISHED },
	{ STR("terminat"), DEED_FINISHED },   { STR("end"), DEED_FINISHED },
	{ STR("done"), DEED_FINISHED },       { STR("destroy"), DEED_FINISHED },
	{ STR("fail"), DEED_FINISHED },       { STR("abort"), DEED_FINISHED },
	{ STR("read"), DEED_USED },           { STR("us"), DEED_USED },
	{ STR("fetch"), DEED_USED },          { STR("send"), DEED_USED },
	{ STR("receiv"), DEED_USED },         { STR("updat"), DEED_USED },
	{ STR("writ"), DEED_USED },           { STR("dispatch"), DEED_USED },
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

/* A word or a value of a title, cut off its front; empty at the end. */
static struct str take_token(struct str *title)
{
	struct str s = *title, token;
	size_t n = 0;

	for (; s.n; s = str_skip(s, 1)) {
		char c = s.p[0] | 0x20;

		if ((c >= 'a' && c <= 'z') || str_starts(s, STR("<*>")))
			break;
	}
	if (str_starts(s, STR("<*>")))
		n = 3;
	else
		/* CREATE_TABLE is a state, no deed */
		while (n < s.n &&
		       (s.p[n] == '_' || ((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'z')))
			n++;
	token = str_head(s, n);
	*title = str_skip(s, n);
	return token;
}

static bool is_mask(struct str token)
{
	return str_starts(token, STR("<*>"));
}

enum relation_deed deed_of(struct str title)
{
	enum relation_deed deed = DEED_UNKNOWN;
	struct str token;

	while (deed == DEED_UNKNOWN && (token = take_token(&title)).n)
		if (!is_mask(token))
			deed = deed_of_word(token);
	return deed;
}

/* After such a word comes what it was done for, with or by: "closed for user 7". */
static bool is_preposition(struct str word)
{
	static const struct str words[] = { STR("for"),     STR("by"),  STR("on"),
					    STR("at"),      STR("in"),  STR("with"),
					    STR("from"),    STR("to"),  STR("of"),
					    STR("as"),      STR("due"), STR("after"),
					    STR("because"), STR("and"), STR("normally") };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq_nocase(word, words[i]))
			return true;
	return false;
}

static bool is_failure(struct str verb)
{
	return str_eq_nocase(str_head(verb, 4), STR("fail")) ||
	       str_eq_nocase(str_head(verb, 5), STR("abort"));
}

enum { MAX_TOKENS = 64 };

/* The value nearest to the verb: behind it, unless a preposition or nothing follows. */
static size_t target_of(const struct str *v, size_t nr, size_t verb)
{
	bool is_passive = verb + 1 == nr || is_preposition(v[verb + 1]);

	for (size_t i = verb; is_passive && i-- > 0;)
		if (is_mask(v[i]))
			return i;
	for (size_t i = verb + 1; i < nr; i++)
		if (is_mask(v[i]))
			return i;
	for (size_t i = verb; i-- > 0;)
		if (is_mask(v[i]))
			return i;
	return SIZE_MAX;
}

struct deed deed_read(struct str title)
{
	struct deed d = { .mask = SIZE_MAX };
	struct str v[MAX_TOKENS];
	size_t nr = 0, verb = SIZE_MAX, target;

	for (struct str token; nr < MAX_TOKENS && (token = take_token(&title)).n; nr++) {
		v[nr] = token;
		d.nr_masks += is_mask(token);
		if (verb == SIZE_MAX && !is_mask(token) &&
		    (d.deed = deed_of_word(token)) != DEED_UNKNOWN)
			verb = nr;
	}
	if (verb == SIZE_MAX)
		return d;
	d.is_failure = is_failure(v[verb]);
	target = target_of(v, nr, verb);
	if (target == SIZE_MAX)
		return d;
	d.mask = 0;
	for (size_t i = 0; i < target; i++)
		d.mask += is_mask(v[i]);
	if (target && !is_mask(v[target - 1]) && target - 1 != verb)
		d.key = v[target - 1];
	return d;
}
