// The largest rows of an answer over time, drawn by uPlot; new seconds come in at the right.
import uPlot from 'uplot';
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { clock } from '../../core/format';
import { colour, font, palette, scaled } from '../../core/theme';
import { keeping, seriesOf, told, type Live } from './pivot';

const LINES = 8,
	HEAD_FOOT = 62;

export class Series {
	readonly el = h('div', { class: 'over', role: 'img', 'aria-label': 'Over time' });
	private plot: uPlot | null = null;
	private drawn = '';
	private data: [Live, number] | null = null;

	constructor() {
		new ResizeObserver(() => {
			this.drawn = '';
			this.draw();
		}).observe(this.el);
	}

	set(live: Live | null, measure: number): void {
		this.data = live ? [live, measure] : null;
		this.draw();
	}

	close(): void {
		this.plot?.destroy();
		this.plot = null;
	}

	private rows(): { name: string; values: (number | null)[] }[] {
		const [live, measure] = this.data!,
			keys = live.columns.flatMap((c, i) => (c.key ? [i] : [])),
			at = seriesOf(live.columns, measure),
			keep = keeping(live.columns);
		const amount = (r: Row): number => Number(r.values[measure] ?? -Infinity);
		return live.rows
			.filter(r => String(r.keep) === keep && r.series)
			.sort((a, b) => amount(b) - amount(a))
			.slice(0, LINES)
			.map(r => ({ name: keys.map(i => told(r.values[i])).join(' · ') || live.columns[measure]!.name, values: r.series[at] }))
			.sort((a, b) => (a.name < b.name ? -1 : 1));
	}

	private options(names: string[], title: string): uPlot.Options {
		const axis = { stroke: colour('faint'), grid: { stroke: colour('rule'), width: 1 }, ticks: { show: false }, font: font(11.5) };
		return {
			title,
			width: Math.max(200, this.el.clientWidth - 4),
			height: this.el.clientHeight - scaled(HEAD_FOOT),
			series: [
				{},
				...names.map((label, i) => ({
					label,
					stroke: palette(i),
					width: 2,
					...(i % 2 ? { dash: [6, 3] } : {}),
					points: { show: false },
					value: (_u: uPlot, v: number | null) => (v === null || v === undefined ? '' : told(v)),
				})),
			],
			scales: { x: { time: true }, y: { range: (_u, min, max) => [Math.min(0, min), Math.max(1, max * 1.08)] } },
			axes: [
				{ ...axis, size: scaled(28), space: 90, values: (_u, splits) => splits.map(v => (v === null ? '' : clock(v * 1e9, 1e9))) },
				{ ...axis, size: scaled(70), values: (_u, splits) => splits.map(v => (v === null ? '' : told(v))) },
			],
			cursor: { drag: { x: false, y: false }, points: { size: 5 } },
		};
	}

	private draw(): void {
		if (!this.data || this.el.clientWidth < 50) return;
		const [live, measure] = this.data,
			rows = this.rows(),
			column = live.columns[measure];
		if (!rows.length || !column || !live.steps) {
			this.close();
			this.drawn = '';
			put(this.el);
			return;
		}
		const x = Array.from({ length: live.steps }, (_, i) => (live.first + i * live.step) / 1e9),
			data: uPlot.AlignedData = [x, ...rows.map(r => r.values)],
			names = rows.map(r => r.name),
			title = `${column.name}${column.adds_up ? ' per second' : ''}`,
			what = JSON.stringify([names, title, document.documentElement.dataset.theme]);
		if (this.plot && what === this.drawn) {
			this.plot.setData(data);
			return;
		}
		this.close();
		put(this.el);
		this.el.setAttribute('aria-label', `${title}: ${names.join(', ')}`);
		this.plot = new uPlot(this.options(names, title), data, this.el);
		this.drawn = what;
	}
}
