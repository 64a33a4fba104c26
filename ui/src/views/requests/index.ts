// Latency over time, counts over time, by type and by node, and the requests one by one. What is brushed or picked here is the selection everywhere.
import type { Row } from '../../core/api';
import { canvasPng } from '../../core/exports';
import { h, put } from '../../core/dom';
import { clock, count, duration, share } from '../../core/format';
import { elsewhere } from '../../core/link';
import { askOther, pinned } from '../../core/selection';
import { Table, type Column } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';
import type { Range } from './axes';
import { groups } from './groups';
import { Heat } from './heat';
import { Series } from './series';

const POINTS = 3000; // dots, when there are no more requests than that
const LARGE = 100_000; // requests in a run: there a sorted row costs more

/** How many rows the table has at a time. */
const rowsOf = (app: App): number => ((app.runs.find(r => String(r.run) === (app.link.params.run ?? '1'))?.requests ?? 0) > LARGE ? 200 : 1000);

/** How the server sorts, by the column and whether the largest come first. */
const SORTS: Record<string, string> = {
	'duration true': 'slowest',
	'duration false': 'fastest',
	'start false': 'start',
	'start true': 'latest',
	'type false': 'type',
	'type true': 'type',
};

/** Cells with their places in time and latency, and what the picture spans. Requests that take no time stand at the foot. */
function cellsOf(rows: Row[], link: Link): { cells: Row[]; range: Range } | null {
	const axes = rows.find(r => r.section === 'axes');
	if (!axes || !axes.count) return null;
	const edges = [...(axes.edges as number[])];
	if (edges[0] === 0) edges[0] = Math.max(1, (edges[1] ?? 2) / 2);
	const cells = rows
		.filter(r => r.section === 'heat')
		.map(r => ({
			...r,
			from: axes.from + r.column * axes.width,
			until: axes.from + (r.column + 1) * axes.width,
			low: edges[r.row]!,
			high: edges[r.row + 1] ?? edges[r.row]! * 2,
			errors: r.errors ?? 0,
		}));
	return {
		cells,
		range: {
			from: link.params.from ? Number(link.params.from) : axes.from,
			until: link.params.until ? Number(link.params.until) : axes.from + axes.columns * axes.width,
			low: Math.max(edges[0]!, Number(link.params.min ?? 0)),
			high: Math.min(edges[edges.length - 1]!, Number(link.params.max ?? Infinity)),
		},
	};
}

/** The time that a finding means, which the link marks. */
function marks(link: Link): Row[] {
	const [begin, end] = (link.params.mark ?? '').split(',');
	return begin || end ? [{ begin: begin ? Number(begin) : null, end: end ? Number(end) : null, text: 'time of the finding' }] : [];
}

interface Counted {
	name: string;
	nr: number;
	/** How long. */
	took: number;
	/** How many there are in what is compared with. */
	was?: number;
}

/** With the counts of the other side; what only that has stands at the end. */
function beside(rows: Counted[], other: Counted[] | null): Counted[] {
	if (!other) return rows;
	const was = new Map(other.map(r => [r.name, r.nr])),
		here = new Set(rows.map(r => r.name));
	return [
		...rows.map(r => ({ ...r, was: was.get(r.name) ?? 0 })),
		...other.filter(r => !here.has(r.name)).map(r => ({ name: r.name, nr: 0, took: 0, was: r.nr })),
	];
}

function facet(title: string, rows: Counted[], picked: string | undefined, pick: (name: string) => void): HTMLElement {
	const most = Math.max(1, ...rows.map(r => Math.max(r.nr, r.was ?? 0)));
	return h(
		'section',
		{ class: 'facet', 'aria-label': title },
		h('h2', { class: 'small' }, title),
		h(
			'div',
			{ class: 'facets' },
			...rows.map(r => {
				const bar = h('span', { class: 'fill', 'aria-hidden': 'true' });
				bar.style.width = `${(100 * r.nr) / most}%`;
				const mark = r.was === undefined ? null : h('span', { class: 'mark', 'aria-hidden': 'true' });
				if (mark) mark.style.left = `min(calc(100% - 2px), ${(100 * r.was!) / most}%)`;
				return h(
					'button',
					{
						class: r.name === picked ? 'here' : '',
						'aria-pressed': r.name === picked ? 'true' : 'false',
						title: r.was === undefined ? r.name : `${r.name}: ${count(r.nr)}, and ${count(r.was)} in what is compared with`,
						click: () => pick(r.name === picked ? '' : r.name),
					},
					bar,
					mark,
					h('span', { class: 'name' }, r.name),
					h(
						'span',
						{ class: 'quiet' },
						r.was === undefined ? count(r.nr) : `${count(r.nr)} (${count(r.was)})`,
						r.nr ? ` · ${duration(r.took)}` : null,
					),
				);
			}),
		),
	);
}

/** How many requests cross each node, and how long it holds them up. */
function nodesOf(rows: Row[]): Counted[] {
	const nodes = new Map<string, { nr: number; ns: number }>();
	for (const r of rows.filter(x => x.section === 'nodes')) {
		const sum = nodes.get(r.node) ?? { nr: 0, ns: 0 };
		nodes.set(r.node, { nr: sum.nr + r.requests, ns: sum.ns + r.critical * r.requests });
	}
	return [...nodes].map(([name, n]) => ({ name, nr: n.nr, took: n.ns / Math.max(1, n.nr) }));
}

const typesOf = (rows: Row[]): Counted[] => rows.map(r => ({ name: r.type, nr: r.count, took: r.p99 }));
const stepsOf = (rows: Row[]): Row[] => rows.filter(r => r.section === undefined && r.start !== undefined);

export const requests: View = {
	id: 'requests',
	title: 'Requests',
	isOfRequests: true,
	letter: 'r',
	about: 'latency and counts over time, by type and node, one by one',
	open(root: HTMLElement, app: App): Opened {
		const brush = (r: Range): void =>
			app.select({
				offset: '',
				from: String(Math.floor(r.from)),
				until: String(Math.ceil(r.until)),
				min: r.low > 1 ? String(Math.floor(r.low)) : '',
				max: String(Math.ceil(r.high)),
			});
		let total = 0;
		const heat = new Heat({ brush, open: id => app.go(elsewhere(app.link, 'request', { request: String(id) })) });
		const series = new Series((from, until) => app.select({ from: String(Math.floor(from)), until: String(Math.ceil(until)) }));
		const side = h('div', { class: 'facetside' }),
			note = h('p', { class: 'quiet listnote' });
		const single: Column<Row>[] = [
			{ key: 'id', title: 'Id', value: r => r.id, width: '5.71rem', isNumber: true },
			{ key: 'type', title: 'Type', value: r => r.type, width: 'minmax(0,3fr)' },
			{ key: 'start', title: 'Start', value: r => r.start, cell: r => clock(r.start), width: '7.86rem', isNumber: true },
			{ key: 'duration', title: 'Took', value: r => r.duration, cell: r => duration(r.duration), isNumber: true },
			{ key: 'spans', title: 'Spans', value: r => r.spans, cell: r => count(r.spans), isNumber: true },
			{ key: 'events', title: 'Lines', value: r => r.events, cell: r => count(r.events), isNumber: true },
			{ key: 'nodes', title: 'Nodes', value: r => (r.nodes as Row[]).map(n => n.node).join(' '), width: 'minmax(0,1.4fr)' },
			{ key: 'errors', title: 'Errors', value: r => (r.errors ? 'yes' : ''), width: '4.29rem' },
			{ key: 'sure', title: 'Sure', value: r => r.confidence, cell: r => share(r.confidence), isNumber: true },
		];
		const way = (r: Row): Link => groups[app.link.params.group ?? '']?.way(r, app.link) ?? elsewhere(app.link, 'request', { request: String(r.id) });
		const table = new Table<Row>({
			label: 'Requests',
			height: '21.43rem',
			sort: { key: 'duration', isDown: true },
			open: r => app.go(way(r)),
			href: r => app.href(way(r)),
			columns: single,
			isStrong: r => r.errors === true,
			// what is loaded is sorted here; where there is more, the server has to
			sorted: (key, isDown) => {
				if (total > rowsOf(app) && SORTS[`${key} ${isDown}`]) app.select({ sort: SORTS[`${key} ${isDown}`]!, offset: '' });
			},
		});
		const search = h('input', {
			type: 'search',
			placeholder: 'search the rows below (/)',
			'aria-label': 'Search requests',
			input: e => table.search((e.target as HTMLInputElement).value),
		});
		const grouping = h(
			'select',
			{ 'aria-label': 'Group the table', change: e => app.select({ group: (e.target as HTMLSelectElement).value, offset: '' }) },
			h('option', { value: '' }, 'one by one'),
			...Object.entries(groups).map(([name, g]) => h('option', { value: name }, g.title)),
		);
		put(
			root,
			h('div', { class: 'reqpair' }, h('div', { class: 'reqmain' }, heat.el, series.el), side),
			h('div', { class: 'listhead' }, h('h2', {}, 'Requests'), search, grouping, note),
			table.el,
		);
		const pager = (offset: number): (Node | string)[] => {
			const ROWS = rowsOf(app);
			if (total <= ROWS) return [`all ${count(total)}`];
			const to = (at: number, text: string): Node =>
				h('button', { disabled: at < 0 || at >= total, click: () => app.select({ offset: String(at) }) }, text);
			return [
				`${count(offset + 1)} to ${count(Math.min(total, offset + ROWS))} of ${count(total)} `,
				to(offset - ROWS, 'before'),
				to(offset + ROWS, 'next'),
			];
		};
		const showList = (list: Row[], link: Link): void => {
			const group = groups[link.params.group ?? ''];
			grouping.value = group ? link.params.group! : '';
			table.columns(group?.columns ?? single);
			put(note, ...(group ? [`${count(list.filter(group.is).length)} groups`] : pager(Number(link.params.offset ?? 0))));
			table.set(list.filter(group?.is ?? (r => r.id !== undefined)));
		};
		const showNothing = (): void => {
			put(note, 'The selection holds no request. Take a part of it away above (Esc takes all away).');
			heat.set(null);
			series.set({ rows: [], isOne: false });
			put(side);
			table.set([]);
		};
		return {
			async show(link, signal) {
				const page = { limit: String(rowsOf(app)), offset: link.params.offset ?? '0', sort: link.params.sort ?? 'slowest' },
					over80 = { 'over-time': '1', steps: '80' },
					other = pinned(link);
				// what looks into every request comes later in a large run: all is asked at once, and drawn as it comes
				const later = Promise.all([
					app.ask('requests', { types: '1' }),
					app.ask('requests', over80),
					askOther(app, other, 'requests', { types: '1' }),
					askOther(app, other, 'requests', over80),
				]);
				later.catch(() => undefined); // told when it is waited for
				const [cells, points, list] = await Promise.all([
					app.ask('requests', { heat: '1' }),
					app.ask('requests', { points: String(POINTS) }),
					app.ask('requests', groups[link.params.group ?? '']?.params ?? page),
				]);
				if (signal.aborted) return;
				const drawn = cellsOf(cells.rows, link);
				total = cells.rows.find(r => r.section === 'axes')?.count ?? 0;
				if (!drawn) {
					showNothing();
					return;
				}
				const picture = { ...drawn, points: total <= POINTS ? points.rows.filter(r => r.section === 'points') : [] };
				heat.set({ ...picture, changes: marks(link) });
				showList(list.rows, link);
				const [types, over, oldTypes, oldOver] = await later;
				if (signal.aborted) return;
				const all = types.rows.filter(r => r.type && r.count),
					old = oldTypes?.rows.filter(r => r.type && r.count) ?? null;
				const found = marks(link);
				heat.set({ ...picture, changes: found.length ? found : over.rows.filter(r => r.section === 'changes' && all.length === 1) });
				series.set({
					rows: stepsOf(over.rows),
					isOne: all.length === 1,
					from: Number(link.params.from ?? 0),
					...(oldOver && old ? { other: { rows: stepsOf(oldOver.rows), isOne: old.length === 1, from: Number(other!.from) } } : {}),
				});
				put(
					side,
					facet('Types', beside(typesOf(all), old && typesOf(old)), link.params.type, type => app.select({ type, offset: '' })),
					facet('Nodes', beside(nodesOf(over.rows), oldOver && nodesOf(oldOver.rows)), link.params.node, node => app.select({ node, offset: '' })),
				);
			},
			key: e => table.key(e),
			exports: () => [table.exportCsv('requests'), { name: 'latency.png', title: 'Latency over time as PNG', make: () => canvasPng(heat.canvas) }],
		};
	},
};
