// The lives of objects over time, children below parents, on a canvas: ten thousand rows and a million marks stay smooth since only what is seen is drawn.
import type { Row } from '../../core/api';
import { h, shown } from '../../core/dom';
import { clock, count, duration } from '../../core/format';
import { colour, font, palette } from '../../core/theme';
import type { Thing } from './tree';

const ROW = 22,
	LABEL = 230,
	HEAD = 24,
	FOLD = 14;

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
	private from = 0;
	private until = 1;
	private at = -1;
	private drag: { x: number; to: number } | null = null;
	private isAsked = false;

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
	): void {
		this.rows = rows;
		this.unfolded = unfolded;
		this.links = links;
		this.place = new Map(rows.map((r, i) => [r.thing.key, i]));
		this.from = range.from;
		this.until = Math.max(range.until, range.from + 1);
		this.at = picked === undefined ? -1 : (this.place.get(picked) ?? -1);
		this.space.style.height = `${rows.length * ROW + HEAD}px`;
		this.later();
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
		return LABEL + ((this.wide - LABEL - 16) * (ns - this.from)) / (this.until - this.from);
	}

	private time(x: number): number {
		return this.from + (this.until - this.from) * Math.min(1, Math.max(0, (x - LABEL) / (this.el.clientWidth - LABEL - 16)));
	}

	private draw(): void {
		const width = this.el.clientWidth,
			height = this.el.clientHeight,
			scale = devicePixelRatio || 1,
			top = this.scroll.scrollTop;
		if (width < 100) return;
		this.wide = width;
		this.canvas.width = width * scale;
		this.canvas.height = height * scale;
		const c = this.canvas.getContext('2d')!;
		c.scale(scale, scale);
		c.font = font(12.5);
		const first = Math.max(0, Math.floor(top / ROW)),
			last = Math.min(this.rows.length, Math.ceil((top + height) / ROW));
		for (let i = first; i < last; i++) this.drawRow(c, i, HEAD + i * ROW - top, width);
		this.drawLinks(c, top);
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
		c.fillRect(0, 0, width, HEAD);
		c.fillStyle = colour('faint');
		c.textAlign = 'left';
		c.fillText(`${count(this.rows.length)} objects`, 10, 16);
		c.textAlign = 'center';
		const steps = Math.max(1, Math.floor((width - LABEL) / 160));
		for (let i = 0; i <= steps; i++)
			c.fillText(
				clock(this.from + ((this.until - this.from) * i) / steps),
				Math.min(width - 50, Math.max(LABEL + 40, LABEL + ((width - LABEL - 16) * i) / steps)),
				16,
			);
	}

	private drawRow(c: CanvasRenderingContext2D, i: number, y: number, width: number): void {
		const { thing, depth } = this.rows[i]!,
			indent = 8 + Math.min(depth, 10) * FOLD;
		if (i === this.at) {
			c.fillStyle = colour('accent');
			c.globalAlpha = 0.14;
			c.fillRect(0, y, width, ROW);
			c.globalAlpha = 1;
		}
		c.fillStyle = colour('faint');
		c.textAlign = 'left';
		if (thing.children.length) c.fillText(this.unfolded.has(thing.key) ? '▾' : '▸', indent, y + 15);
		c.fillStyle = colour('fg');
		c.save();
		c.beginPath();
		c.rect(indent + FOLD, y, LABEL - indent - FOLD - 8, ROW);
		c.clip();
		const text = thing.children.length ? `${thing.name} (${thing.children.length})` : thing.name;
		c.fillText(shortened(c, shown(text), LABEL - indent - FOLD - 8), indent + FOLD, y + 15);
		c.restore();
		const x = Math.max(LABEL, this.x(thing.first)),
			end = Math.min(width - 16, this.x(thing.last));
		if (end < LABEL || x > width - 16) return;
		c.fillStyle = palette(this.o.typeNr(thing.type));
		c.globalAlpha = 0.55;
		c.fillRect(x, y + 5, Math.max(2, end - x), ROW - 10);
		c.globalAlpha = 1;
		this.drawMarks(c, thing, y, width);
		if (thing.errors > 0) {
			c.fillStyle = colour('bad');
			c.fillText('✖', Math.min(width - 28, Math.max(2 + x, end) + 4), y + 15);
		}
	}

	/** Marks that fall on one pixel are one mark; errors are taller and end in a notch, so that colour is not all that tells them. */
	private drawMarks(c: CanvasRenderingContext2D, thing: Thing, y: number, width: number): void {
		c.fillStyle = colour('fg');
		for (const x of this.pixels(thing.times, width)) c.fillRect(x, y + 7, 1, ROW - 14);
		c.fillStyle = colour('bad');
		for (const x of this.pixels(thing.errorTimes, width)) {
			c.fillRect(x, y + 2, 2, ROW - 4);
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
			if (x !== before && x >= LABEL && x <= width - 16) all.push(x);
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
			const x = Math.max(LABEL, this.x(link.row.first)),
				ya = HEAD + a * ROW + ROW / 2 - top,
				yb = HEAD + b * ROW + ROW / 2 - top;
			c.beginPath();
			c.moveTo(x, ya);
			c.quadraticCurveTo(x + 26, (ya + yb) / 2, x, yb);
			c.stroke();
		}
	}

	// --- pointing ---------------------------------------------------------------------------

	private rowAt(e: PointerEvent): number {
		const box = this.scroll.getBoundingClientRect();
		return Math.floor((e.clientY - box.top - HEAD + this.scroll.scrollTop) / ROW);
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
		if (d && Math.abs(x - d.x) > 6 && d.x > LABEL) {
			this.o.brush(this.time(Math.min(d.x, x)), this.time(Math.max(d.x, x)));
			return;
		}
		if (!row) return;
		if (row.thing.children.length && x < 8 + Math.min(row.depth, 10) * FOLD + FOLD) this.o.fold(row.thing);
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
				y = next * ROW;
			if (y < this.scroll.scrollTop || y + 2 * ROW + HEAD > this.scroll.scrollTop + this.scroll.clientHeight)
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
