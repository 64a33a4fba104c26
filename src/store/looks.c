#include "store/looks.h"

static const struct {
	struct str magic;
	const char *says;
} kinds[] = {
	{ STR("SQLite format 3\0"), "an SQLite database of another program" },
	{ STR("\x1f\x8b"), "gzip data: give it to 'culprit analyze'" },
	{ STR("\xfd"
	      "7zXZ"),
	  "xz data: give it to 'culprit analyze'" },
	{ STR("\x28\xb5\x2f\xfd"), "zstd data: give it to 'culprit analyze'" },
	{ STR("PK\x03\x04"), "a zip or jar file" },
	{ STR("\x7f"
	      "ELF"),
	  "a program" },
	{ STR("\xca\xfe\xba\xbe"), "a Java class" },
	{ STR("\xd4\xc3\xb2\xa1"), "a packet capture" },
	{ STR("\xa1\xb2\xc3\xd4"), "a packet capture" },
	{ STR("\x0a\x0d\x0d\x0a"), "a packet capture" },
	{ STR("{"), "JSON: give it to 'culprit analyze'" },
	{ STR("["), "JSON or text: give it to 'culprit analyze'" },
};

/* Text has no control bytes but white space; bytes above 126 may be any encoding. */
static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == 127 || (c < 32 && !strchr("\t\n\r\f\033", c)) || !c)
			return false;
	}
	return true;
}

const char *looks_like(struct str head)
{
	if (!head.n)
		return "an empty file";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_starts(head, kinds[i].magic))
			return kinds[i].says;
	return is_text(head) ? "text: give it to 'culprit analyze'"
			     : "binary data of no known kind";
}
