// Counts and percentiles over time, drawn by uPlot; a stretch that is drawn over selects the time.
import uPlot from 'uplot';
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { clock, count, duration } from '../../core/format';
import { colour, font, scaled } from '../../core/theme';

const WHOLE = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3)); // steps of counts
const HEAD_FOOT = 52,
	LEGEND = 24, // px: title and legend, another line of it
	BESIDE = 560; // px that two pictures need to stand side by side

/** Whole numbers as they are, others with three digits. */
const rate = (v: number): string => (Number.isInteger(v) ? count(v) : v.toPrecision(3));

export interface Step {
	start: number;
	end: number;
	count: number;
	errors: number;
	p50: number | null;
	p99: number | null;
}

/** Steps of several types in one: counts are added; a percentile of several types is that of the largest. */
export function merged(rows: Row[]): Step[] {
	const steps = new Map<number, Step>();
	for (const r of rows) {
		const step = steps.get(r.start) ?? { start: r.start, end: r.end, count: 0, errors: 0, p50: null, p99: null };
		step.count += r.count;
		step.errors += r.errors;
		step.p50 = r.p50 === null ? step.p50 : Math.max(step.p50 ?? 0, r.p50);
		step.p99 = r.p99 === null ? step.p99 : Math.max(step.p99 ?? 0, r.p99);
		steps.set(r.start, step);
	}
	return [...steps.values()].sort((a, b) => a.start - b.start);
}

/** By how much the other side is moved, so that both begin at the same place: where it was selected (from), or at the first. Not at all where most of one is within the
 * other, nor where it is longer and near: then the axis tells of both. */
export function shiftOf(steps: Step[], other: Step[], from?: number, otherFrom?: number): number {
	const some = steps.filter(s => s.count),
		others = other.filter(s => s.count),
		[a, b] = [some[0], others[0]];
	if (!a || !b) return 0;
	const end = some[some.length - 1]!.end,
		otherEnd = others[others.length - 1]!.end,
		length = end - a.start,
		otherLength = otherEnd - b.start;
	const common = Math.min(end, otherEnd) - Math.max(a.start, b.start),
		isNear = -common < 10 * Math.max(length, otherLength);
	if (common > Math.min(length, otherLength) / 2 || (otherLength > 1.5 * length && isNear)) return 0;
	return from && otherFrom ? from - otherFrom : a.start - b.start;
}

export interface SeriesData {
	rows: Row[];
	/** Of one type, whose percentiles say something. */
	isOne: boolean;
	/** Where the selection begins, if it does. */
	from?: number;
	/** What it is compared with: drawn dashed. */
	other?: { rows: Row[]; isOne: boolean; from?: number };
}

export class Series {
	readonly el = h('div', { class: 'series', role: 'img', 'aria-label': 'Counts and percentiles over time' });
	private plots: uPlot[] = [];
	private steps: Step[] = [];
	private other: Step[] = [];
	private isOne = true;
	private isOtherOne = true;
	private from: number | undefined;
	private otherFrom: number | undefined;

	constructor(private readonly brush: (from: number, until: number) => void) {
		new ResizeObserver(() => this.draw()).observe(this.el);
	}

	set(data: SeriesData): void {
		this.steps = merged(data.rows);
		this.other = merged(data.other?.rows ?? []);
		this.isOne = data.isOne;
		this.isOtherOne = !!data.other?.isOne;
		this.from = data.from;
		this.otherFrom = data.other?.from;
		this.el.setAttribute('aria-label', `Counts and percentiles over time${data.other ? '; dashed: what is compared with' : ''}`);
		this.draw();
	}

	private options(title: string, series: uPlot.Series[], text: (v: number) => string, isLog: boolean): uPlot.Options {
		const axis = { stroke: colour('faint'), grid: { stroke: colour('rule'), width: 1 }, ticks: { show: false }, font: font(11.5) };
		const isStacked = this.el.classList.contains('stacked');
		return {
			title,
			width: Math.max(200, this.el.clientWidth / (this.isOne && !isStacked ? 2 : 1) - 4),
			height: this.el.clientHeight / (isStacked ? 2 : 1) - scaled(HEAD_FOOT) - (this.other.length ? scaled(LEGEND) : 0),
			series: [{}, ...series],
			scales: { x: { time: true }, y: isLog ? { distr: 3 } : { range: (_u, _min, max) => [0, Math.max(1, max * 1.08)] } },
			axes: [
				{
					...axis,
					size: scaled(28),
					space: 90,
					values: (_u, splits, _a, _s, step) => splits.map(v => (v === null ? '' : clock(v * 1e9, step * 1e9))),
				},
				{ ...axis, size: scaled(62), ...(isLog ? {} : { incrs: WHOLE }), values: (_u, splits) => splits.map(v => (v === null ? '' : text(v))) },
			],
			cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
			legend: { live: true },
			hooks: {
				setSelect: [
					u => {
						if (u.select.width > 3) this.brush(u.posToVal(u.select.left, 'x') * 1e9, u.posToVal(u.select.left + u.select.width, 'x') * 1e9);
					},
				],
			},
		};
	}

	private draw(): void {
		for (const p of this.plots) p.destroy();
		this.plots = [];
		put(this.el);
		this.el.classList.toggle('stacked', this.isOne && this.el.clientWidth < scaled(BESIDE));
		if (!this.steps.length || this.el.clientWidth < 50) return;
		const shift = shiftOf(this.steps, this.other, this.from, this.otherFrom),
			x = this.steps.map(s => s.start / 1e9),
			then = this.other.map(s => (s.start + shift) / 1e9);
		const moved = this.other.length
			? shift
				? `; dashed: the other, ${duration(Math.abs(shift))} ${shift > 0 ? 'earlier' : 'later'}`
				: '; dashed: the other'
			: '';
		this.drawCounts(x, then, moved);
		if (this.isOne) this.drawLatency(x, then, moved);
	}

	private drawCounts(x: number[], then: number[], moved: string): void {
		const bars = uPlot.paths.bars!({ size: [0.9, 100], align: 1 }),
			shown = { value: (_u: uPlot, v: number | null) => (v === null || v === undefined ? '' : rate(v)), points: { show: false } };
		const series: uPlot.Series[] = [
			{ label: 'requests', stroke: colour('run'), fill: colour('run'), paths: bars, ...shown },
			{ label: 'errors', stroke: colour('bad'), fill: colour('bad'), paths: bars, ...shown },
		];
		// steps of different lengths are compared by what is in a second
		const width = (steps: Step[]): number => (steps[0] ? steps[0].end - steps[0].start : 0),
			isRate = then.length > 0 && width(this.steps) !== width(this.other);
		const of = (s: Step, n: number): number => (isRate ? (1e9 * n) / Math.max(1, s.end - s.start) : n);
		const tables: uPlot.AlignedData[] = [[x, this.steps.map(s => of(s, s.count)), this.steps.map(s => of(s, s.errors))]];
		if (then.length) {
			series.push({ label: 'the other', stroke: colour('fg'), width: 1.5, dash: [4, 3], paths: uPlot.paths.stepped!({ align: 1 }), ...shown });
			tables.push([then, this.other.map(s => of(s, s.count))]);
		}
		this.plots.push(
			new uPlot(this.options(`Requests${isRate ? ' per s' : ''}${moved}`, series, isRate ? rate : count, false), uPlot.join(tables), this.el),
		);
	}

	private drawLatency(x: number[], then: number[], moved: string): void {
		const line = (label: string, stroke: string, more: Partial<uPlot.Series> = {}): uPlot.Series => ({
			label,
			stroke: colour(stroke),
			width: 2,
			points: { show: true, size: 4 },
			value: (_u, v) => (v === null || v === undefined ? '' : duration(v)),
			...more,
		});
		const series = [line('median', 'series-0'), line('p99', 'series-1', moved ? {} : { dash: [6, 3] })];
		const tables: uPlot.AlignedData[] = [[x, this.steps.map(s => s.p50 || null), this.steps.map(s => s.p99 || null)]];
		if (then.length && this.isOtherOne) {
			series.push(
				line('its median', 'series-0', { dash: [4, 3], width: 1.5, spanGaps: true, points: { show: false } }),
				line('its p99', 'series-1', { dash: [4, 3], width: 1.5, spanGaps: true, points: { show: false } }),
			);
			tables.push([then, this.other.map(s => s.p50 || null), this.other.map(s => s.p99 || null)]);
		}
		this.plots.push(new uPlot(this.options(`Latency${this.isOtherOne ? moved : ''}`, series, duration, true), uPlot.join(tables), this.el));
	}
}
