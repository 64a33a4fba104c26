// One request beside another: hop by hop what this one takes, what the other one takes, and the difference, the largest first.
import type { Answer, Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { count, duration, share } from '../../core/format';
import { Table } from '../../core/table';
import type { Export } from '../../core/view';

export const MEDIAN = 'median';

/** The other request as the server found it, and the hops of both. */
export interface Compared {
	other: Row;
	hops: Row[];
}

/** Null where there is none to compare with; `why` then tells. */
export function comparedOf(answer: Answer): Compared | null {
	const other = answer.rows.find(r => r.section === 'median' || r.section === 'beside');
	return other ? { other, hops: answer.rows.filter(r => r.section === 'compare') } : null;
}

const change = (ns: number): string => `${ns > 0 ? '+' : ''}${duration(ns)}`;
const place = (r: Row): string => `${r.node ? `${r.node}: ` : ''}${r.name}`;

/** How often, where that differs. */
const calls = (r: Row): HTMLElement | null =>
	r.calls === r.median_calls ? null : h('span', { class: 'quiet' }, ` ×${count(r.calls)}, not ${count(r.median_calls)}`);

/** In one sentence: how much longer, and where most of it is. */
export function sentence(head: Row, c: Compared): string {
	const delta = head.duration - c.other.duration,
		sign = delta >= 0 ? 1 : -1;
	const most = c.hops.reduce<Row | null>((a, b) => (sign * b.delta > sign * (a?.delta ?? 0) ? b : a), null);
	const rank = c.other.section === MEDIAN ? ` ${count(c.other.faster)} of ${count(c.other.count)} of its type are faster.` : '';
	if (!delta) return `Both take ${duration(head.duration)}.${rank}`;
	return `${duration(head.duration)}, and ${duration(c.other.duration)} the other: ${duration(Math.abs(delta))} ${delta > 0 ? 'longer' : 'shorter'}${most ? `, ${share(Math.abs(most.delta / delta))} of it in ${place(most)}` : ''}.${rank}`;
}

/** A bar to the right for what takes longer here, to the left for what takes longer there. */
function bar(r: Row, most: number): HTMLElement {
	const el = h('span', { class: `delta ${r.delta > 0 ? 'longer' : 'shorter'}`, 'aria-hidden': 'true' });
	el.style.width = `${50 * Math.min(1, Math.abs(r.delta) / Math.max(1, most))}%`;
	return h('div', { class: 'deltacell' }, el, h('span', {}, change(r.delta)));
}

export class Hops {
	readonly el = h('section', { class: 'besidehops', 'aria-label': 'Hops of both requests' });
	private readonly words = h('p', {});
	private readonly title = h('h2', {});
	private readonly table: Table<Row>;
	private most = 1;

	constructor() {
		this.table = new Table<Row>({
			label: 'Hops, the largest difference first',
			height: '14.29rem',
			sort: { key: 'size', isDown: true },
			columns: [
				{
					key: 'hop',
					title: 'Hop',
					value: r => r.name,
					cell: r => h('span', { title: `${r.path ?? r.name}\n${count(r.calls)} calls, ${count(r.median_calls)} in the other` }, place(r), calls(r)),
					width: 'minmax(0,1fr)',
				},
				{
					key: 'this',
					title: 'This',
					value: r => r.critical,
					cell: r => duration(r.critical),
					width: '4.8rem',
					isNumber: true,
					hint: 'how long it holds this request up, on the critical path',
				},
				{
					key: 'other',
					title: 'Other',
					value: r => r.median_critical,
					cell: r => (r.median_calls ? duration(r.median_critical) : '–'),
					width: '4.8rem',
					isNumber: true,
					hint: 'how long it holds the other one up',
				},
				{
					key: 'size',
					title: 'Difference',
					value: r => Math.abs(r.delta),
					cell: r => bar(r, this.most),
					width: '7rem',
					isNumber: true,
					hint: 'they add up to the difference of both',
				},
			],
		});
		put(this.el, this.title, this.words, this.table.el);
	}

	set(head: Row, c: Compared): void {
		this.most = Math.max(1, ...c.hops.map(r => Math.abs(r.delta as number)));
		put(this.title, c.other.section === MEDIAN ? `Beside request ${c.other.id}, the median of its type` : `Beside request ${c.other.id}`);
		put(this.words, sentence(head, c));
		this.table.set(c.hops);
	}

	exports(): Export {
		return { ...this.table.exportCsv('hops'), title: 'Hops of both as CSV' };
	}
}
