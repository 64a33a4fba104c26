// Which step makes the latency vary: factors by rank and how sure they are, the tree, the slowest against the usual, and what if.
import type { Row } from '../../core/api';
import { h, put, s, shown, sideways } from '../../core/dom';
import { csv, svg } from '../../core/exports';
import { count, duration, share } from '../../core/format';
import { elsewhere } from '../../core/link';
import { empty } from '../../core/state';
import { Table } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';
import { icicle } from './icicle';

const FACTORS_MAX = '300';
const TAILS = 8;
const TYPES = 6;

const name = (r: Row): string => (r.factor as string[]).join(' with ');
const isPair = (r: Row): boolean => (r.factor as string[]).length > 1;

/** The share as a bar, the interval that is sure as a line with ends. */
function whisker(r: Row, max: number): SVGElement {
	const W = 150,
		H = 20,
		x = (v: number): number => (W * Math.max(0, Math.min(max, v))) / max,
		isSure = typeof r.low === 'number';
	return s(
		'svg',
		{
			class: `whisker${r.noise ? ' noise' : ''}`,
			width: W,
			height: H,
			viewBox: `0 0 ${W} ${H}`,
			role: 'img',
			'aria-label': isSure ? `between ${share(r.low)} and ${share(r.high)}` : 'too few to be sure',
		},
		s(
			'title',
			{},
			isSure ? `in 95 of 100 draws between ${share(r.low)} and ${share(r.high)}${r.noise ? ': not told from noise' : ''}` : 'too few to be sure',
		),
		s('rect', { x: 0, y: 5, width: x(Math.abs(r.share)), height: 10, class: r.share < 0 ? 'less' : 'bar' }),
		isSure && r.share >= 0 ? s('path', { d: `M${x(r.low)},6v8M${x(r.low)},10H${x(r.high)}M${x(r.high)},6v8`, class: 'range' }) : null,
	);
}

function note(r: Row): string {
	const waits = Object.entries((r.waits ?? {}) as Record<string, number>).filter(([, v]) => v >= 0.5);
	return [
		isPair(r) ? (r.share < 0 ? 'make up for each other' : 'vary together') : '',
		...(String(r.factor[0]).startsWith('wait:') ? [] : waits.map(([why, v]) => `${share(v)} of it waits: ${why}`)),
		r.inherent ? `goes with ${r.work}` : '',
		r.noise ? (typeof r.low === 'number' ? 'not told from noise' : 'too few to be sure') : '',
	]
		.filter(Boolean)
		.join(', ');
}

/** The slowest hundredth beside the middle tenth, the largest part of the difference first. */
function tails(factors: Row[]): HTMLTableElement {
	const all = factors
			.filter(r => r.tail)
			.sort((a, b) => b.tail.share - a.tail.share)
			.slice(0, TAILS),
		max = Math.max(1, ...all.map(r => Math.max(r.tail.slow, r.tail.usual)));
	const bar = (v: number, cls: string): SVGElement =>
		s(
			'svg',
			{ width: 220, height: 10, viewBox: '0 0 220 10', class: 'tailbar', 'aria-hidden': 'true' },
			s('rect', { width: (220 * v) / max, height: 9, class: cls }),
		);
	return h(
		'table',
		{ class: 'tails' },
		h(
			'thead',
			{},
			h(
				'tr',
				{},
				...['In the slowest 1 %', 'slowest above, usual below', 'Takes', 'Usually', 'Of the difference'].map((t, i) =>
					h('th', { scope: 'col', class: i > 1 ? 'num' : '' }, t),
				),
			),
		),
		h(
			'tbody',
			{},
			...all.map(r =>
				h(
					'tr',
					{},
					h('td', { class: 'who', title: name(r) }, name(r)),
					h('td', {}, h('div', { class: 'tailpair' }, bar(r.tail.slow, 'crit'), bar(r.tail.usual, 'usual'))),
					h('td', { class: 'num' }, duration(r.tail.slow)),
					h('td', { class: 'num' }, duration(r.tail.usual)),
					h('td', { class: 'num' }, share(r.tail.share)),
				),
			),
		),
	);
}

/** One factor with less of its variation: a slider from constant to as it is. */
class Supposed {
	readonly el = h('div', { class: 'supposed' });
	private readonly slider = h('input', { type: 'range', min: 0, max: 10, step: 1, value: 0, 'aria-label': 'How much of its variation is left' });
	private readonly who = h('p', { class: 'who' });
	private readonly told = h('div', { class: 'told', role: 'status' });
	private factor: Row | undefined;
	private whole: Row = {};

	constructor(private readonly changed: (kept: string) => void) {
		this.slider.addEventListener('input', () => this.tell());
		this.slider.addEventListener('change', () => this.changed(this.slider.value));
	}

	show(factor: Row | undefined, whole: Row, kept: string): void {
		this.factor = factor;
		this.whole = whole;
		const at = /^\d+$/.test(kept) ? kept : '0';
		if (this.slider.value !== at) this.slider.value = at;
		if (!factor?.if_p99) {
			put(
				this.el,
				h('h2', {}, 'What if'),
				h('p', { class: 'quiet' }, 'Pick a factor of one name, of the first dozen: how long would requests take if it varied less?'),
			);
			return;
		}
		put(this.who, name(factor));
		this.who.setAttribute('title', shown(name(factor)));
		// who holds the slider keeps it
		if (!this.el.contains(this.slider))
			put(
				this.el,
				h('h2', {}, 'What if it varied less'),
				this.who,
				h('label', {}, h('span', { class: 'quiet' }, 'constant'), this.slider, h('span', { class: 'quiet' }, 'as it is')),
				this.told,
			);
		this.tell();
	}

	private tell(): void {
		const f = this.factor!,
			at = Number(this.slider.value),
			steps = f.if_p99.length - 1,
			was = f.if_sd[steps] as number,
			now = f.if_sd[at] as number;
		const row = (what: string, from: string, to: string): HTMLElement =>
			h('tr', {}, h('td', {}, what), h('td', { class: 'num' }, from), h('td', { class: 'num' }, to));
		put(
			this.told,
			h('p', {}, at ? `${share(at / steps)} of its variation around its median is left:` : 'Constant at its median:'),
			h(
				'table',
				{},
				h('thead', {}, h('tr', {}, h('td', {}), h('th', { class: 'num', scope: 'col' }, 'now'), h('th', { class: 'num', scope: 'col' }, 'then'))),
				h(
					'tbody',
					{},
					row('p99', duration(f.if_p99[steps]), duration(f.if_p99[at])),
					row('sd', duration(was), duration(now)),
					row('variance', '100 %', share(was > 0 ? (now * now) / (was * was) : 0)),
				),
			),
			this.whole.sampled < this.whole.intervals ? h('p', { class: 'quiet' }, `of a sample of ${count(this.whole.sampled)}`) : null,
		);
	}
}

export const variance: View = {
	id: 'variance',
	title: 'Variance',
	letter: 'v',
	about: 'which step makes the latency of a type vary',
	open(root: HTMLElement, app: App): Opened {
		const sentence = h('p', { class: 'sentence' }),
			figures = h('p', { class: 'quiet figures' }),
			types = h('div', { class: 'types' }),
			drawing = h('div', { class: 'icicles' }),
			slowest = h('div', { class: 'slowest' });
		let factors: Row[] = [],
			max = 1;
		const pick = (what: string): void => app.select({ what, kept: '' });
		const supposed = new Supposed(kept => app.select({ kept: kept === '0' ? '' : kept }));
		const table = new Table<Row>({
			label: 'Factors of the variance',
			height: '17.2rem',
			columns: [
				{ key: 'factor', title: 'Factor', value: name, width: 'minmax(0,4fr)' },
				{
					key: 'share',
					title: 'Share',
					value: r => r.share,
					cell: r => share(r.share),
					isNumber: true,
					width: '4.8rem',
					hint: 'of the variance; all add up to 100 %',
				},
				{ key: 'low', title: 'Sure between', value: r => r.low ?? null, cell: r => whisker(r, max), width: '11.5rem' },
				{
					key: 'mean',
					title: 'Mean',
					value: r => r.mean ?? null,
					cell: r => (r.mean === undefined ? '–' : duration(r.mean)),
					isNumber: true,
					width: '5.4rem',
				},
				{ key: 'sd', title: 'sd', value: r => r.sd ?? null, cell: r => (r.sd === undefined ? '–' : duration(r.sd)), isNumber: true, width: '5.4rem' },
				{ key: 'note', title: 'Note', value: note, width: 'minmax(0,3fr)' },
			],
			open: r => pick(name(r)),
			isStrong: r => name(r) === app.link.params.what,
		});
		put(
			root,
			sentence,
			figures,
			types,
			h('div', { class: 'variancepair' }, h('div', {}, h('h2', {}, 'Where the variance comes from'), table.el), supposed.el),
			h('h2', {}, 'The tree'),
			h('p', { class: 'quiet' }, 'Below each step what it calls, as wide as the part of the variance that goes with it; hatched: waiting.'),
			drawing,
			h('h2', {}, 'The slowest against the usual ones'),
			slowest,
		);
		function nothing(why: string): void {
			put(sentence, why);
			put(figures);
			put(types);
			put(drawing, empty('Nothing varies', 'Select a type with several requests that take different times.'));
			put(slowest);
			table.set([]);
			supposed.show(undefined, {}, '');
		}
		return {
			async show(link: Link, signal: AbortSignal) {
				const { rows } = await app.ask('variance', { tree: '1', top: FACTORS_MAX });
				if (signal.aborted) return;
				const whole = rows.find(r => r.section === 'summary');
				factors = rows.filter(r => r.factor);
				if (!whole?.summary || !factors.length)
					return nothing(whole?.text ?? rows.find(r => r.text)?.text ?? 'There is nothing to tell the variance of.');
				max = Math.max(0.01, ...factors.map(r => Math.max(Math.abs(r.share), r.high ?? 0)));
				put(sentence, whole.text);
				put(
					figures,
					`${count(whole.intervals)} of type ${whole.summary}: half take ${duration(whole.p50)}, the slowest 1 % ${duration(whole.slow_mean)}. `,
					h('a', { href: app.href(elsewhere(link, 'requests', { type: whole.summary })) }, 'the requests'),
				);
				const others = (rows.find(r => r.section === 'others')?.types ?? []) as string[];
				put(
					types,
					others.length ? h('span', { class: 'quiet' }, 'Other types:') : null,
					...others.slice(0, TYPES).map(t => h('button', { class: 'plain', title: t, click: () => app.select({ type: t, what: '', kept: '' }) }, t)),
				);
				table.set(factors);
				const what = link.params.what ?? whole.culprit ?? '';
				supposed.show(
					factors.find(r => name(r) === what),
					whole,
					link.params.kept ?? '0',
				);
				put(
					drawing,
					icicle(
						rows.filter(r => r.place !== undefined),
						Math.max(320, drawing.clientWidth - 2),
						what,
						pick,
					),
				);
				put(slowest, sideways('The slowest against the usual ones', tails(factors)));
			},
			key: e => table.key(e),
			exports: () => {
				const drawn = drawing.querySelector('svg.icicle');
				return [
					table.exportCsv('factors'),
					...(drawn ? [{ name: 'variance.svg', title: 'Tree as SVG', make: () => svg(drawn as SVGSVGElement) }] : []),
					{
						name: 'tail.csv',
						title: 'Slowest against usual as CSV',
						make: () =>
							csv(
								['factor', 'slow', 'usual', 'share'],
								factors.filter(r => r.tail).map(r => [name(r), r.tail.slow, r.tail.usual, r.tail.share]),
							),
					},
				];
			},
		};
	},
};
