// Counts and percentiles over time, drawn by uPlot; a stretch that is drawn over selects the time.
import uPlot from 'uplot';
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { clock, count, duration } from '../../core/format';
import { colour } from '../../core/theme';

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

export class Series {
	readonly el = h('div', { class: 'series', role: 'img', 'aria-label': 'Counts and percentiles over time' });
	private plots: uPlot[] = [];
	private steps: Step[] = [];
	private isOne = true;

	constructor(private readonly brush: (from: number, until: number) => void) {
		new ResizeObserver(() => this.draw()).observe(this.el);
	}

	/** isOne: of one type, whose percentiles say something. */
	set(rows: Row[], isOne: boolean): void {
		this.steps = merged(rows);
		this.isOne = isOne;
		this.draw();
	}

	private options(title: string, series: uPlot.Series[], text: (v: number) => string, isLog: boolean): uPlot.Options {
		const axis = { stroke: colour('faint'), grid: { stroke: colour('rule'), width: 1 }, ticks: { show: false }, font: '11.5px system-ui' };
		return {
			title, width: Math.max(200, this.el.clientWidth / (this.isOne ? 2 : 1) - 4), height: this.el.clientHeight - 26, series: [{}, ...series],
			scales: { x: { time: true }, y: isLog ? { distr: 3 } : { range: (_u, _min, max) => [0, Math.max(1, max * 1.08)] } },
			axes: [{ ...axis, size: 28, space: 90, values: (_u, splits, _a, _s, step) => splits.map(v => v === null ? '' : clock(v * 1e9, step * 1e9)) }, { ...axis, size: 62, values: (_u, splits) => splits.map(v => v === null ? '' : text(v)) }],
			cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 5 } }, legend: { live: true },
			hooks: { setSelect: [u => { if (u.select.width > 3) this.brush(u.posToVal(u.select.left, 'x') * 1e9, u.posToVal(u.select.left + u.select.width, 'x') * 1e9); }] },
		};
	}

	private draw(): void {
		for (const p of this.plots)
			p.destroy();
		this.plots = [];
		put(this.el);
		if (!this.steps.length || this.el.clientWidth < 50)
			return;
		const x = this.steps.map(s => s.start / 1e9), bars = uPlot.paths.bars!({ size: [.9, 100], align: 1 });
		this.plots.push(new uPlot(this.options('Requests', [{ label: 'requests', stroke: colour('run'), fill: colour('run'), paths: bars, value: (_u, v) => v === null ? '' : count(v), points: { show: false } }, { label: 'errors', stroke: colour('bad'), fill: colour('bad'), paths: bars, value: (_u, v) => v === null ? '' : count(v), points: { show: false } }], count, false),
			[x, this.steps.map(s => s.count), this.steps.map(s => s.errors)], this.el));
		if (this.isOne)
			this.plots.push(new uPlot(this.options('Latency', [{ label: 'median', stroke: colour('series-0'), width: 2, points: { show: true, size: 4 }, value: (_u, v) => v === null ? '' : duration(v) }, { label: 'p99', stroke: colour('series-1'), width: 2, dash: [6, 3], points: { show: true, size: 4 }, value: (_u, v) => v === null ? '' : duration(v) }], duration, true),
				[x, this.steps.map(s => s.p50 || null), this.steps.map(s => s.p99 || null)], this.el));
	}
}
