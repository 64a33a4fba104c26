// Small drawings that stand beside numbers.
import { h, s } from './dom';
import { clock, share } from './format';

/** How sure something is: a bar that is filled, and the figure. */
export function sure(confidence: number | null | undefined): HTMLElement {
	if (confidence === null || confidence === undefined) return h('span', {});
	const text = `${Math.round(100 * confidence)} % sure`;
	return h(
		'span',
		{ class: 'sure', title: `confidence ${confidence.toFixed(2)}` },
		s(
			'svg',
			{ width: 48, height: 8, viewBox: '0 0 48 8', 'aria-hidden': 'true' },
			s('rect', { width: 48, height: 8, rx: 4, class: 'track' }),
			s('rect', { width: Math.max(3, 48 * confidence), height: 8, rx: 4, class: 'fill' }),
		),
		text,
	);
}

/** Two durations, one under the other, to the same scale. */
export function against(label: string, value: number, other: string, usual: number, text: (v: number) => string): SVGElement {
	const W = 300,
		BAR = 190,
		max = Math.max(value, usual, 1);
	const bar = (y: number, name: string, v: number, css: string): SVGElement[] => [
		s('text', { x: 0, y: y + 11, class: 'name' }, name.length > 40 ? `${name.slice(0, 39)}…` : name),
		s('rect', { x: 0, y: y + 16, width: Math.max(1, (BAR * v) / max), height: 10, class: css }),
		s('text', { x: Math.max(1, (BAR * v) / max) + 6, y: y + 25, class: 'figure' }, text(v)),
	];
	return s(
		'svg',
		{ class: 'against', width: W, height: 66, viewBox: `0 0 ${W} 66`, role: 'img', 'aria-label': `${label} ${text(value)}, ${other} ${text(usual)}` },
		...bar(0, label, value, 'crit'),
		...bar(33, other, usual, 'run'),
	);
}

/** A part of a whole. */
export function part(of: number, what: string): SVGElement {
	const W = 300;
	return s(
		'svg',
		{ class: 'part', width: W, height: 34, viewBox: `0 0 ${W} 34`, role: 'img', 'aria-label': `${share(of)} ${what}` },
		s('rect', { width: W, height: 10, rx: 2, class: 'track' }),
		s('rect', { width: Math.max(2, W * Math.min(1, of)), height: 10, rx: 2, class: 'crit' }),
		s('text', { x: 0, y: 27, class: 'name' }, `${share(of)} ${what}`),
	);
}

/** A row of little bars; null is a gap. */
export function spark(values: (number | null)[], width = 120, height = 18): SVGElement {
	const max = Math.max(1, ...values.map(v => v ?? 0)),
		w = width / Math.max(1, values.length);
	return s(
		'svg',
		{ class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
		...values.map((v, i) =>
			v === null
				? null
				: s('rect', { x: i * w, width: Math.max(1, w - 1), y: height - Math.max(1, (height * v) / max), height: Math.max(1, (height * v) / max) }),
		),
	);
}

/** A stretch within the time of the whole run; either end may be open. */
export function when(first: number, last: number, began: number | null, ended: number | null): SVGElement {
	const W = 300,
		x = (t: number): number => W * Math.min(1, Math.max(0, (t - first) / Math.max(1, last - first)));
	const from = began === null ? 0 : x(began),
		to = ended === null ? W : x(ended);
	return s(
		'svg',
		{
			class: 'when',
			width: W,
			height: 30,
			viewBox: `0 0 ${W} 30`,
			role: 'img',
			'aria-label': `from ${began === null ? 'the beginning' : clock(began)} to ${ended === null ? 'the end' : clock(ended)}`,
		},
		s('rect', { y: 2, width: W, height: 8, rx: 2, class: 'track' }),
		s('rect', { x: from, y: 2, width: Math.max(3, to - from), height: 8, class: 'crit' }),
		s('text', { x: 0, y: 25, class: 'name' }, clock(first, 1e9)),
		s('text', { x: W, y: 25, class: 'name', 'text-anchor': 'end' }, clock(last, 1e9)),
	);
}
