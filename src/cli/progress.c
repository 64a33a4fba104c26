#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/time.h"

#define FIRST_NS NS_S
#define EVERY_NS (100 * NS_MS)
#define BAR 24

static struct {
	void (*told)(void *to, const char *what, double share);
	void *to;
} watcher;

void progress_watch(void (*told)(void *to, const char *what, double share), void *to)
{
	watcher.told = told;
	watcher.to = to;
}

void progress_begin(struct progress *p, const char *what, uint64_t total)
{
	*p = (struct progress){ .what = what, .total = total, .began = time_tick() };
	p->is_terminal = isatty(STDERR_FILENO);
	if (watcher.told)
		watcher.told(watcher.to, what, total ? 0 : -1);
}

static void draw_rate(struct buf *b, const struct progress *p, double seconds)
{
	double rate = (double)p->done / seconds;

	buf_fmt(b, "  %.0f MB  %.0f MB/s", (double)p->done / 1e6, rate / 1e6);
	if (p->total > p->done && rate > 0)
		buf_fmt(b, "  %.0f s left", (double)(p->total - p->done) / rate);
}

static void draw(struct progress *p, int64_t now)
{
	double share = p->total ? (double)p->done / (double)p->total : 0;
	struct buf b = { 0 };

	if (share > 1)
		share = 1;
	buf_fmt(&b, "\r\033[K%-9s", p->what);
	if (p->total) {
		buf_fmt(&b, " [");
		for (int i = 0; i < BAR; i++)
			buf_char(&b, i < share * BAR ? '#' : ' ');
		buf_fmt(&b, "] %3.0f %%", 100 * share);
	}
	if (!p->total && !p->done)
		buf_fmt(&b, " %.0f s", (double)(now - p->began) / 1e9);
	if (p->done)
		draw_rate(&b, p, (double)(now - p->began) / 1e9);
	fwrite(b.p, 1, b.n, stderr);
	fflush(stderr);
	buf_done(&b);
	p->is_shown = true;
}

void progress_add(struct progress *p, uint64_t bytes)
{
	int64_t now;

	p->done += bytes;
	if (!p->is_terminal && !watcher.told)
		return;
	now = time_tick();
	if (now - p->drawn < EVERY_NS)
		return;
	if (watcher.told)
		watcher.told(watcher.to, p->what,
			     p->total ? (double)p->done / (double)p->total : -1);
	if (p->is_terminal && now - p->began >= FIRST_NS)
		draw(p, now);
	p->drawn = now;
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}
