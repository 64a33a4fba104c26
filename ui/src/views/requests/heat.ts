// Latency over time: cells where requests are many, dots where each can be seen. A rectangle that is drawn selects.
import type { Row } from '../../core/api';
import { h, shown } from '../../core/dom';
import { clock, count, duration } from '../../core/format';
import { colour, font, scaled, wiped } from '../../core/theme';
import { Axes, type Range } from './axes';

export interface HeatData {
	cells: Row[];
	points: Row[];
	/** Slow times that were found: begin and end, either may be open. */
	changes: Row[];
	range: Range;
}

export interface HeatOptions {
	brush(range: Range): void;
	open(id: number): void;
}

const LEFT = 64,
	BOTTOM = 24,
	TOP = 8,
	RIGHT = 8,
	NEAR = 7,
	DRAG = 4;

/** Between two colours of the form #rrggbb. */
function mix(a: string, b: string, t: number): string {
	const part = (text: string, i: number): number => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
	return `rgb(${[0, 1, 2].map(i => Math.round(part(a, i) + (part(b, i) - part(a, i)) * t)).join(',')})`;
}

export class Heat {
	readonly el: HTMLElement;
	readonly canvas = h('canvas', { class: 'heat', tabindex: 0, role: 'img', 'aria-label': 'Latency of requests over time' });
	private readonly tip = h('div', { class: 'tip', hidden: true });
	private data: HeatData | null = null;
	private axes: Axes | null = null;
	private drag: { x: number; y: number; toX: number; toY: number } | null = null;

	constructor(private readonly o: HeatOptions) {
		this.el = h('div', { class: 'heatbox' }, this.canvas, this.tip);
		new ResizeObserver(() => this.draw()).observe(this.el);
		this.canvas.addEventListener('pointerdown', e => this.down(e));
		this.canvas.addEventListener('pointermove', e => this.move(e));
		this.canvas.addEventListener('pointerup', e => this.up(e));
		this.canvas.addEventListener('pointerleave', () => {
			this.tip.hidden = true;
		});
		this.canvas.addEventListener('dblclick', () => this.zoom(2));
		this.canvas.addEventListener('keydown', e => this.key(e));
	}

	/** null: there is nothing. */
	set(data: HeatData | null): void {
		this.data = data;
		if (!data) {
			this.canvas.width = this.canvas.width; // wipes it
			return;
		}
		const total = data.cells.reduce((sum, c) => sum + (c.count as number), 0);
		this.canvas.setAttribute(
			'aria-label',
			`Latency of ${count(total)} requests over time, from ${duration(data.range.low)} to ${duration(data.range.high)}`,
		);
		this.draw();
	}

	// --- drawing ---------------------------------------------------------------------------

	private draw(): void {
		const width = this.el.clientWidth,
			height = this.el.clientHeight;
		if (!this.data || width < 100) return;
		const c = wiped(this.canvas, width, height);
		const left = scaled(LEFT);
		this.axes = new Axes(this.data.range, { left, top: TOP, width: width - left - RIGHT, height: height - TOP - scaled(BOTTOM) });
		this.drawAxes(c);
		// where each request can be seen, cells would only hide it
		if (this.data.points.length) this.drawPoints(c);
		else this.drawCells(c);
		this.drawChanges(c);
		this.drawBrush(c);
	}

	private drawAxes(c: CanvasRenderingContext2D): void {
		const { area } = this.axes!;
		c.font = font(11.5);
		c.strokeStyle = colour('rule');
		c.fillStyle = colour('faint');
		c.lineWidth = 1;
		for (const t of this.axes!.latencies()) {
			const y = Math.round(this.axes!.y(t.ns)) + 0.5;
			c.beginPath();
			c.moveTo(area.left, y);
			c.lineTo(area.left + area.width, y);
			c.stroke();
			c.textAlign = 'right';
			c.fillText(t.text, area.left - 6, y + 4);
		}
		c.textAlign = 'center';
		for (const t of this.axes!.times())
			c.fillText(
				t.text,
				Math.min(area.left + area.width - scaled(26), Math.max(area.left + scaled(26), this.axes!.x(t.ns))),
				area.top + area.height + scaled(17),
			);
	}

	private drawCells(c: CanvasRenderingContext2D): void {
		const cells = this.data!.cells,
			most = Math.log1p(Math.max(1, ...cells.map(x => x.count as number))),
			from = colour('heat-0'),
			to = colour('heat-1');
		for (const cell of cells) {
			const x = this.axes!.x(cell.from),
				y = this.axes!.y(cell.high);
			const w = Math.max(1, this.axes!.x(cell.until) - x - 0.5),
				ht = Math.max(1, this.axes!.y(cell.low) - y - 0.5);
			c.fillStyle = mix(from, to, 0.12 + (0.88 * Math.log1p(cell.count)) / most);
			c.fillRect(x, y, w, ht);
			if (cell.errors > 0) {
				c.fillStyle = colour('bad');
				c.fillRect(x, y, w, 2);
			}
		}
	}

	private drawPoints(c: CanvasRenderingContext2D): void {
		for (const p of this.data!.points) {
			const x = this.axes!.x(p.start),
				y = this.axes!.y(p.duration);
			c.strokeStyle = c.fillStyle = colour(p.errors ? 'bad' : 'series-0');
			c.beginPath();
			if (p.errors) {
				c.moveTo(x - 3, y - 3);
				c.lineTo(x + 3, y + 3);
				c.moveTo(x + 3, y - 3);
				c.lineTo(x - 3, y + 3);
				c.stroke();
			} else {
				c.arc(x, y, 2, 0, 7);
				c.fill();
			}
		}
	}

	private drawChanges(c: CanvasRenderingContext2D): void {
		const { area } = this.axes!;
		for (const change of this.data!.changes) {
			const from = change.begin === null ? area.left : this.axes!.x(change.begin),
				to = change.end === null ? area.left + area.width : this.axes!.x(change.end);
			c.fillStyle = colour('crit');
			c.globalAlpha = 0.09;
			c.fillRect(from, area.top, to - from, area.height);
			c.globalAlpha = 1;
			c.fillRect(from, area.top, to - from, 3);
			c.textAlign = 'left';
			const text = change.text ?? `slow time: ${duration(change.mean_inside)} on average, else ${duration(change.mean_outside)}`,
				last = area.left + area.width - c.measureText(text).width;
			c.fillText(text, Math.max(area.left, Math.min(Math.max(from, area.left) + 6, last)), area.top + scaled(16));
		}
	}

	private drawBrush(c: CanvasRenderingContext2D): void {
		const d = this.drag;
		if (!d) return;
		c.strokeStyle = colour('accent');
		c.lineWidth = 1.5;
		c.strokeRect(Math.min(d.x, d.toX), Math.min(d.y, d.toY), Math.abs(d.toX - d.x), Math.abs(d.toY - d.y));
	}

	// --- pointing --------------------------------------------------------------------------

	private down(e: PointerEvent): void {
		this.canvas.setPointerCapture(e.pointerId);
		this.drag = { x: e.offsetX, y: e.offsetY, toX: e.offsetX, toY: e.offsetY };
	}

	private nearest(x: number, y: number): Row | null {
		let best: Row | null = null,
			near = NEAR * NEAR;
		for (const p of this.data?.points ?? []) {
			const d = (this.axes!.x(p.start) - x) ** 2 + (this.axes!.y(p.duration) - y) ** 2;
			if (d < near) {
				near = d;
				best = p;
			}
		}
		return best;
	}

	private move(e: PointerEvent): void {
		if (this.drag) {
			this.drag.toX = e.offsetX;
			this.drag.toY = e.offsetY;
			this.draw();
		}
		if (!this.axes || !this.data) return;
		const t = this.axes.time(e.offsetX),
			v = this.axes.latency(e.offsetY),
			p = this.nearest(e.offsetX, e.offsetY);
		const cell = this.data.cells.find(x => t >= x.from && t < x.until && v >= x.low && v < x.high);
		this.tip.textContent = p
			? `request ${p.id}: ${shown(p.type)}, ${duration(p.duration)} at ${clock(p.start)}. Click to open.`
			: cell
				? `${count(cell.count)} requests of ${duration(cell.low)} to ${duration(cell.high)} at ${clock(cell.from)}`
				: `${clock(t)}, ${duration(v)}`;
		this.tip.hidden = false;
		this.tip.style.left = `${Math.min(e.offsetX + 14, this.el.clientWidth - this.tip.offsetWidth - 4)}px`;
		this.tip.style.top = `${Math.max(0, e.offsetY - 30)}px`;
	}

	private up(e: PointerEvent): void {
		const d = this.drag;
		this.drag = null;
		if (!d || !this.axes) return;
		if (Math.abs(d.toX - d.x) < DRAG && Math.abs(d.toY - d.y) < DRAG) {
			const p = this.nearest(e.offsetX, e.offsetY);
			if (p) this.o.open(p.id);
			this.draw();
			return;
		}
		const isFlat = Math.abs(d.toY - d.y) < 12,
			isThin = Math.abs(d.toX - d.x) < 12,
			{ range } = this.data!;
		this.o.brush({
			from: isThin ? range.from : this.axes.time(Math.min(d.x, d.toX)),
			until: isThin ? range.until : this.axes.time(Math.max(d.x, d.toX)),
			low: isFlat ? range.low : this.axes.latency(Math.max(d.y, d.toY)),
			high: isFlat ? range.high : this.axes.latency(Math.min(d.y, d.toY)),
		});
	}

	/** Arrows move in time, + and - zoom. */
	private key(e: KeyboardEvent): void {
		const by: Record<string, number> = { ArrowLeft: -0.25, ArrowRight: 0.25 };
		if (!this.data) return;
		const { range } = this.data,
			length = range.until - range.from,
			shift = by[e.key];
		if (shift !== undefined) this.o.brush({ ...range, from: range.from + shift * length, until: range.until + shift * length });
		else if (e.key === '+' || e.key === '-') this.zoom(e.key === '+' ? 0.5 : 2);
		else return;
		e.preventDefault();
		e.stopPropagation();
	}

	private zoom(times: number): void {
		if (!this.data) return;
		const { range } = this.data,
			mid = (range.from + range.until) / 2,
			half = ((range.until - range.from) / 2) * times;
		this.o.brush({ ...range, from: mid - half, until: mid + half });
	}
}
