// The lives of objects over time, children below parents, on a canvas: ten thousand rows and a million marks stay smooth since only what is seen is drawn.
import type { Row } from '../../core/api';
import { h, shown } from '../../core/dom';
import { clock, count, duration } from '../../core/format';
import { colour, font, palette, scaled, wiped } from '../../core/theme';
import type { Thing } from './tree';

/** Names of one kind differ at their end: what is left out is left out in the middle. */
function shortened(c: CanvasRenderingContext2D, text: string, width: number): string {
	const wide = c.measureText(text).width;
	if (wide <= width) return text;
	const fits = Math.max(6, Math.floor((text.length * width) / wide) - 2),
		tail = Math.ceil(fits * 0.6);
	return `${text.slice(0, fits - tail)}…${text.slice(-tail)}`;
}

export interface LinkLine {
	a: string;
	b: string;
	row: Row;
}

/** A silence of an object, and the one whose end it waits for. */
export interface Gap {
	of: string;
	from: number;
	until: number;
	other: string | null;
}

export interface TimelineOptions {
	pick(thing: Thing): void;
	fold(thing: Thing): void;
	brush(from: number, until: number): void;
	typeNr(type: string): number;
}

export class ObjectTimeline {
	readonly el: HTMLElement;
	readonly canvas = h('canvas', { class: 'objcanvas', 'aria-hidden': 'true' });
	private readonly scroll: HTMLElement;
	private readonly space = h('div', { class: 'space' });
	private readonly tip = h('div', { class: 'tip', hidden: true });
	private readonly said = h('div', { class: 'quiet listnote', 'aria-live': 'polite' });
	private rows: { thing: Thing; depth: number }[] = [];
	private place = new Map<string, number>();
	private links: LinkLine[] = [];
	private unfolded = new Set<string>();
	private wide = 0; // px, when it was drawn
	/** Sizes in px, which grow with the page's text. */
	private row = 22;
	private label = 230;
	private head = 24;
	private fold = 14;
	private text = 15;
	private from = 0;
	private until = 1;
	private at = -1;
	private drag: { x: number; to: number } | null = null;
	private isAsked = false;
	private gap: Gap | null = null;

	constructor(private readonly o: TimelineOptions) {
		this.scroll = h(
			'div',
			{
				class: 'objscroll',
				tabindex: 0,
				role: 'tree',
				'aria-label': 'Objects over time',
				scroll: () => this.later(),
				keydown: e => {
					if (this.key(e as KeyboardEvent)) e.preventDefault();
				},
			},
			this.space,
		);
		this.el = h('div', { class: 'objtimeline' }, this.canvas, this.scroll, this.tip, this.said);
		new ResizeObserver(() => this.later()).observe(this.el);
		this.scroll.addEventListener('pointerdown', e => {
			this.drag = { x: e.offsetX, to: e.offsetX };
		});
		this.scroll.addEventListener('pointermove', e => this.move(e));
		this.scroll.addEventListener('pointerup', e => this.up(e));
		this.scroll.addEventListener('pointerleave', () => {
			this.tip.hidden = true;
		});
	}

	set(
		rows: { thing: Thing; depth: number }[],
		unfolded: Set<string>,
		links: LinkLine[],
		range: { from: number; until: number },
		picked: string | undefined,
		gap: Gap | null,
	): void {
		const isOther = picked !== undefined && this.rows[this.at]?.thing.key !== picked;
		this.gap = gap;
		this.rows = rows;
		this.unfolded = unfolded;
		this.links = links;
		this.place = new Map(rows.map((r, i) => [r.thing.key, i]));
		this.from = range.from;
		this.until = Math.max(range.until, range.from + 1);
		this.at = picked === undefined ? -1 : (this.place.get(picked) ?? -1);
		this.space.style.height = `${rows.length * this.row + this.head}px`;
		this.measure();
		if (isOther) this.reveal();
		this.later();
	}

	/** The row that is picked stands where it is seen. */
	private reveal(): void {
		const y = this.at * this.row,
			room = this.scroll.clientHeight - this.head;
		if (this.at >= 0 && (y < this.scroll.scrollTop || y + this.row > this.scroll.scrollTop + room)) this.scroll.scrollTop = y - room / 2;
	}

	private measure(): void {
		const by = scaled(1);
		[this.row, this.label, this.head, this.fold, this.text] = [22 * by, Math.min(230 * by, 0.4 * this.el.clientWidth), 24 * by, 14 * by, 15 * by];
		this.space.style.height = `${this.rows.length * this.row + this.head}px`;
	}

	/** At most once for each picture that the screen shows. */
	private later(): void {
		if (this.isAsked) return;
		this.isAsked = true;
		requestAnimationFrame(() => {
			this.isAsked = false;
			this.draw();
		});
	}

	private x(ns: number): number {
		return this.label + ((this.wide - this.label - 16) * (ns - this.from)) / (this.until - this.from);
	}

	private time(x: number): number {
		return this.from + (this.until - this.from) * Math.min(1, Math.max(0, (x - this.label) / (this.el.clientWidth - this.label - 16)));
	}

	private draw(): void {
		const width = this.el.clientWidth,
			height = this.el.clientHeight,
			top = this.scroll.scrollTop;
		if (width < 100) return;
		this.wide = width;
		this.measure();
		const c = wiped(this.canvas, width, height);
		c.font = font(12.5);
		const first = Math.max(0, Math.floor(top / this.row)),
			last = Math.min(this.rows.length, Math.ceil((top + height) / this.row));
		for (let i = first; i < last; i++) this.drawRow(c, i, this.head + i * this.row - top, width);
		this.drawLinks(c, top);
		this.drawGap(c, top);
		this.drawHead(c, width);
		if (this.drag && Math.abs(this.drag.to - this.drag.x) > 4) {
			c.fillStyle = colour('accent');
			c.globalAlpha = 0.15;
			c.fillRect(Math.min(this.drag.x, this.drag.to), 0, Math.abs(this.drag.to - this.drag.x), height);
			c.globalAlpha = 1;
		}
	}

	private drawHead(c: CanvasRenderingContext2D, width: number): void {
		c.fillStyle = colour('soft');
		c.fillRect(0, 0, width, this.head);
		c.fillStyle = colour('faint');
		c.textAlign = 'left';
		c.fillText(`${count(this.rows.length)} objects`, 10, this.text + 1);
		c.textAlign = 'center';
		const steps = Math.max(1, Math.floor((width - this.label) / scaled(160)));
		for (let i = 0; i <= steps; i++)
			c.fillText(
				clock(this.from + ((this.until - this.from) * i) / steps),
				Math.min(width - scaled(50), Math.max(this.label + scaled(40), this.label + ((width - this.label - 16) * i) / steps)),
				this.text + 1,
			);
	}

	private drawRow(c: CanvasRenderingContext2D, i: number, y: number, width: number): void {
		const { thing, depth } = this.rows[i]!,
			indent = 8 + Math.min(depth, 10) * this.fold;
		if (i === this.at) {
			c.fillStyle = colour('accent');
			c.globalAlpha = 0.14;
			c.fillRect(0, y, width, this.row);
			c.globalAlpha = 1;
		}
		c.fillStyle = colour('faint');
		c.textAlign = 'left';
		if (thing.children.length) c.fillText(this.unfolded.has(thing.key) ? '▾' : '▸', indent, y + this.text);
		c.fillStyle = colour('fg');
		c.save();
		c.beginPath();
		c.rect(indent + this.fold, y, this.label - indent - this.fold - 8, this.row);
		c.clip();
		const text = thing.children.length ? `${thing.name} (${thing.children.length})` : thing.name;
		c.fillText(shortened(c, shown(text), this.label - indent - this.fold - 8), indent + this.fold, y + this.text);
		c.restore();
		const x = Math.max(this.label, this.x(thing.first)),
			end = Math.min(width - 16, this.x(thing.last));
		if (end < this.label || x > width - 16) return;
		c.fillStyle = palette(this.o.typeNr(thing.type));
		c.globalAlpha = 0.55;
		c.fillRect(x, y + 5, Math.max(2, end - x), this.row - 10);
		c.globalAlpha = 1;
		this.drawMarks(c, thing, y, width);
		if (thing.errors > 0) {
			c.fillStyle = colour('bad');
			c.fillText('✖', Math.min(width - 28, Math.max(2 + x, end) + 4), y + this.text);
		}
	}

	/** Marks that fall on one pixel are one mark; errors are taller and end in a notch, so that colour is not all that tells them. */
	private drawMarks(c: CanvasRenderingContext2D, thing: Thing, y: number, width: number): void {
		c.fillStyle = colour('fg');
		for (const x of this.pixels(thing.times, width)) c.fillRect(x, y + 7, 1, this.row - 14);
		c.fillStyle = colour('bad');
		for (const x of this.pixels(thing.errorTimes, width)) {
			c.fillRect(x, y + 2, 2, this.row - 4);
			c.fillRect(x - 2, y + 2, 6, 2);
		}
	}

	/** Where the moments stand, each pixel once; what is not seen is skipped by halves. */
	private pixels(times: number[], width: number): number[] {
		const all: number[] = [];
		let low = 0,
			high = times.length,
			before = -1;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (times[mid]! < this.from) low = mid + 1;
			else high = mid;
		}
		for (let i = low; i < times.length && times[i]! <= this.until; i++) {
			const x = Math.round(this.x(times[i]!));
			if (x !== before && x >= this.label && x <= width - 16) all.push(x);
			before = x;
		}
		return all;
	}

	private drawLinks(c: CanvasRenderingContext2D, top: number): void {
		c.strokeStyle = colour('series-3');
		c.lineWidth = 1.3;
		for (const link of this.links) {
			const a = this.place.get(link.a),
				b = this.place.get(link.b);
			if (a === undefined || b === undefined) continue;
			const x = Math.max(this.label, this.x(link.row.first)),
				ya = this.head + a * this.row + this.row / 2 - top,
				yb = this.head + b * this.row + this.row / 2 - top;
			c.beginPath();
			c.moveTo(x, ya);
			c.quadraticCurveTo(x + 26, (ya + yb) / 2, x, yb);
			c.stroke();
		}
	}

	/** Stripes over the silence, its length in it, and a line from the end that it waits for. */
	private drawGap(c: CanvasRenderingContext2D, top: number): void {
		const at = this.gap ? this.place.get(this.gap.of) : undefined;
		if (!this.gap || at === undefined) return;
		const x = Math.max(this.label, this.x(this.gap.from)),
			end = this.x(this.gap.until),
			y = this.head + at * this.row - top,
			other = this.gap.other === null ? undefined : this.place.get(this.gap.other),
			text = `waits ${duration(this.gap.until - this.gap.from)}`;
		c.save();
		c.beginPath();
		c.rect(x, y + 1, end - x, this.row - 2);
		c.fillStyle = colour('lift');
		c.fill();
		c.strokeStyle = colour('crit');
		c.lineWidth = 2;
		c.stroke();
		c.clip();
		c.lineWidth = 1;
		for (let k = x - this.row; k < end; k += 8) {
			c.moveTo(k, y + this.row);
			c.lineTo(k + this.row, y);
		}
		c.stroke();
		c.restore();
		c.textAlign = 'left';
		const wide = c.measureText(text).width;
		if (wide + 14 < end - x) {
			c.fillStyle = colour('lift');
			c.fillRect(x + 5, y + 3, wide + 6, this.row - 6);
			c.fillStyle = colour('crit');
			c.fillText(text, x + 8, y + this.text);
		}
		if (other === undefined) return;
		const yo = this.head + other * this.row - top;
		c.strokeStyle = c.fillStyle = colour('crit');
		c.lineWidth = 2;
		c.beginPath();
		c.moveTo(end, yo + (other < at ? this.row - 5 : 5));
		c.lineTo(end, y + (other < at ? 0 : this.row));
		c.stroke();
		c.beginPath();
		c.arc(end, yo + this.row / 2, 4, 0, 7);
		c.fill();
		c.textAlign = end > this.wide - 5 * this.row ? 'right' : 'left';
		c.fillText('its end', end + (c.textAlign === 'left' ? 8 : -8), yo + this.text);
	}

	// --- pointing ---------------------------------------------------------------------------

	private rowAt(e: PointerEvent): number {
		const box = this.scroll.getBoundingClientRect();
		return Math.floor((e.clientY - box.top - this.head + this.scroll.scrollTop) / this.row);
	}

	private move(e: PointerEvent): void {
		const row = this.rows[this.rowAt(e)];
		if (this.drag && e.buttons) {
			this.drag.to = e.clientX - this.scroll.getBoundingClientRect().left;
			this.later();
		}
		this.tip.hidden = !row;
		if (!row) return;
		const t = row.thing,
			box = this.el.getBoundingClientRect();
		this.tip.textContent = shown(
			`${t.type} ${t.name}: ${duration(t.last - t.first)}, ${clock(t.first)} to ${clock(t.last)}, ${count(t.events)} lines${t.errors ? `, ${count(t.errors)} errors` : ''}`,
		);
		this.tip.style.left = `${Math.max(0, Math.min(e.clientX - box.left + 14, box.width - this.tip.offsetWidth - 8))}px`;
		this.tip.style.top = `${e.clientY - box.top + 16}px`;
	}

	private up(e: PointerEvent): void {
		const d = this.drag,
			i = this.rowAt(e),
			row = this.rows[i],
			x = e.clientX - this.scroll.getBoundingClientRect().left;
		this.drag = null;
		if (d && Math.abs(x - d.x) > 6 && d.x > this.label) {
			this.o.brush(this.time(Math.min(d.x, x)), this.time(Math.max(d.x, x)));
			return;
		}
		if (!row) return;
		if (row.thing.children.length && x < 8 + Math.min(row.depth, 10) * this.fold + this.fold) this.o.fold(row.thing);
		else this.pick(i);
	}

	private pick(i: number): void {
		const row = this.rows[i];
		this.at = i;
		this.later();
		if (!row) return;
		this.said.textContent = shown(`${row.thing.type} ${row.thing.name}`);
		this.o.pick(row.thing);
	}

	key(e: KeyboardEvent): boolean {
		const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
		const by = steps[e.key],
			row = this.rows[this.at];
		if (by !== undefined && this.rows.length) {
			const next = Math.max(0, Math.min(this.rows.length - 1, this.at + by)),
				y = next * this.row;
			if (y < this.scroll.scrollTop || y + 2 * this.row + this.head > this.scroll.scrollTop + this.scroll.clientHeight)
				this.scroll.scrollTop = y - this.scroll.clientHeight / 2;
			this.pick(next);
		} else if (
			row &&
			row.thing.children.length &&
			(e.key === 'Enter' || ((e.key === 'ArrowRight') !== this.unfolded.has(row.thing.key) && /^Arrow(Left|Right)$/.test(e.key)))
		) {
			this.o.fold(row.thing);
		} else {
			return false;
		}
		e.stopPropagation();
		return true;
	}
}
