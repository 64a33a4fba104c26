#include "source/undated.h"

#include <ctype.h>

#include "base/time.h"
#include "base/utf8.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/source.h"

#define MESSAGE_BYTES ((size_t)8 << 10)

bool undated_is_binary(struct str head)
{
	size_t odd = 0, control = 0, nul = 0, all = head.n;

	while (head.n) {
		unsigned char c = (unsigned char)head.p[0];
		size_t n;

		/* most of it is plain text */
		if (c >= ' ' && c < 0x7f) {
			head = str_skip(head, 1);
			continue;
		}
		n = c < 0x80 ? 1 : utf8_length(head);

		nul += !c;
		control += (c && c < ' ' && !isspace(c) && c != 0x1b) || c == 0x7f;
		odd += !n;
		head = str_skip(head, n ? n : 1);
	}
	/* text in an older encoding is no UTF-8, but has no control characters either */
	if (control > (all - nul) / 200)
		control += odd;
	return control > (all - nul) / 20 || nul > all / 2;
}

void undated_event(struct event *ev, struct str node)
{
	*ev = (struct event){ .ns = NS_NONE,
			      .kind = EVENT_LOG,
			      .level = LEVEL_NONE,
			      .nr_lines = 1,
			      .node = node,
			      .key_kind = KEY_NONE,
			      .duration = -1 };
}

void undated_ask(const struct statements *statements, struct event *ev, struct str text,
		 struct arena *arena, struct losses *losses)
{
	if (!statements)
		return;
	statements->find(statements->ctx, ev, str_head(text, MESSAGE_BYTES), arena);
	losses->count[LOSS_LINES_NO_STATEMENT] += statements->knows_all && !ev->statement;
}
