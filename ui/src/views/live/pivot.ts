// The answer so far as a table or a pivot table: each cell a number and what it was, second by second.
import type { Row } from '../../core/api';
import { h, s } from '../../core/dom';
import { count } from '../../core/format';

export interface Column {
	name: string;
	key: boolean;
	adds_up: boolean;
}

/** What came for one query: rows by the keys that they are told apart by. */
export interface Live {
	columns: Column[];
	first: number;
	step: number;
	steps: number;
	rows: Row[];
	more: Row[];
}

export const ROWS_MAX = 40,
	ACROSS_MAX = 6;

const bit = (column: number): bigint => 1n << BigInt(column);

/** The bits of all keys but for these columns. */
export function keeping(columns: Column[], without: number[] = []): string {
	return columns.reduce((all, c, i) => (c.key && !without.includes(i) ? all | bit(i) : all), 0n).toString();
}

export const only = (column: number): string => bit(column).toString();
export const told = (v: unknown): string =>
	v === null || v === undefined ? '–' : typeof v === 'number' ? (Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(4)))) : String(v);

/** Its place among the series of a row. */
export const seriesOf = (columns: Column[], measure: number): number => columns.slice(0, measure).filter(c => !c.key).length;

/** What a row measured, second by second, as one small line; where nothing was, there is none. */
export function spark(values: (number | null)[] | undefined, title: string): SVGElement {
	const W = 120,
		H = 22,
		max = Math.max(0, ...(values ?? []).map(v => v ?? 0)),
		min = Math.min(0, ...(values ?? []).map(v => v ?? 0)),
		nr = Math.max(1, (values?.length ?? 1) - 1);
	let d = '',
		isOn = false;
	for (const [i, v] of (values ?? []).entries()) {
		if (v === null) {
			isOn = false;
			continue;
		}
		const x = ((W - 2) * i) / nr + 1,
			y = H - 2 - ((H - 4) * (v - min)) / (max - min || 1);
		d += `${isOn ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}${isOn ? '' : 'h0.1'}`;
		isOn = true;
	}
	return s(
		'svg',
		{ class: 'secondspark', viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title },
		s('title', {}, title),
		s('path', { d }),
	);
}

/** A histogram: how many values fell into each range. */
function bars(buckets: Row[], what: string): HTMLElement {
	const most = buckets.reduce((a, b) => (b.count > a.count ? b : a), buckets[0] ?? { count: 0, from: 0, to: 0 });
	return h(
		'td',
		{ class: 'num' },
		spark(
			buckets.map(b => b.count as number),
			`${what}: from ${told(buckets[0]?.from)} to ${told(buckets[buckets.length - 1]?.to)}, most (${count(most.count)}) from ${told(most.from)} to ${told(most.to)}`,
		),
	);
}

function cell(row: Row | undefined, live: Live, measure: number, what: string): HTMLElement {
	if (Array.isArray(row?.values[measure])) return bars(row.values[measure], what);
	const values = row?.series?.[seriesOf(live.columns, measure)] as (number | null)[] | undefined;
	const known = values?.filter(v => v !== null) ?? [];
	return h(
		'td',
		{ class: 'num' },
		h('span', {}, row ? told(row.values[measure]) : ''),
		values
			? spark(
					values,
					`${what}: ${known.length ? `${told(known[known.length - 1])} lately, at most ${told(Math.max(...(known as number[])))} a second` : 'nothing lately'}`,
				)
			: null,
	);
}

function headed(titles: string[], nrNames: number, body: HTMLElement[], label: string, foot: HTMLElement | null): HTMLElement {
	return h(
		'table',
		{ class: 'pivot', 'aria-label': label },
		h('thead', {}, h('tr', {}, ...titles.map((t, i) => h('th', { scope: 'col', class: i < nrNames ? '' : 'num' }, t)))),
		h('tbody', {}, ...body),
		foot ? h('tfoot', {}, foot) : null,
	);
}

const rowsOf = (live: Live, keep: string): Row[] => live.rows.filter(r => String(r.keep) === keep);
const keysOf = (live: Live): number[] => live.columns.flatMap((c, i) => (c.key ? [i] : []));
const nameOf = (row: Row, columns: number[]): string => columns.map(i => told(row.values[i])).join(' · ');

/** Every measured column, one row for each group. */
export function list(live: Live): HTMLElement {
	const keep = keeping(live.columns),
		all = rowsOf(live, keep),
		keys = keysOf(live),
		total = keys.length && all.some(r => r.series) ? rowsOf(live, '0')[0] : undefined;
	const cells = (r: Row, isTotal: boolean): HTMLElement[] =>
		live.columns.map((c, i) =>
			c.key || !r.series
				? h('td', { class: typeof r.values[i] === 'number' ? 'num' : '' }, isTotal ? (i === keys[0] ? 'all' : '') : told(r.values[i]))
				: cell(r, live, i, `${c.name}${isTotal ? '' : ` of ${nameOf(r, keys)}`}`),
		);
	return headed(
		live.columns.map(c => c.name),
		keys.length,
		all.slice(0, ROWS_MAX).map(r => h('tr', {}, ...cells(r, false))),
		'Answer so far',
		total ? h('tr', {}, ...cells(total, true)) : null,
	);
}

/** The values of one key side by side, the largest first; totals at the right and at the foot. */
export function pivot(live: Live, across: number, measure: number): HTMLElement {
	const keys = keysOf(live).filter(i => i !== across),
		amount = (r: Row): number => Number(r.values[measure] ?? -Infinity);
	const columns = rowsOf(live, only(across)).sort((a, b) => amount(b) - amount(a)),
		shown = columns.slice(0, ACROSS_MAX),
		rows = rowsOf(live, keeping(live.columns, [across])),
		cells = new Map(rowsOf(live, keeping(live.columns)).map(r => [JSON.stringify([nameOf(r, keys), r.values[across]]), r]));
	const whole = rowsOf(live, '0')[0],
		what = live.columns[measure]!.name;
	const body = rows
		.slice(0, ROWS_MAX)
		.map(r =>
			h(
				'tr',
				{},
				...keys.map(i => h('td', {}, told(r.values[i]))),
				...shown.map(c =>
					cell(
						cells.get(JSON.stringify([nameOf(r, keys), c.values[across]])),
						live,
						measure,
						`${what} of ${nameOf(r, keys)}, ${told(c.values[across])}`,
					),
				),
				cell(r, live, measure, `${what} of ${nameOf(r, keys)}`),
			),
		);
	const foot = h(
		'tr',
		{},
		...keys.map((_, i) => h('td', {}, i ? '' : 'all')),
		...shown.map(c => cell(c, live, measure, `${what} of ${told(c.values[across])}`)),
		cell(whole, live, measure, what),
	);
	return headed(
		[
			...keys.map(i => live.columns[i]!.name),
			...shown.map(c => told(c.values[across])),
			columns.length > shown.length ? `all ${count(columns.length)}` : 'all',
		],
		keys.length,
		body,
		`${what} by ${live.columns[across]!.name}`,
		foot,
	);
}

/** How many rows are not shown. */
export function beyond(live: Live, keep: string): number {
	return Math.max(0, rowsOf(live, keep).length - ROWS_MAX) + live.more.filter(m => String(m.keep) === keep).reduce((n, m) => n + Number(m.rows), 0);
}
