// Which ways requests take through the nodes, and where on them the time goes: patterns, the whole system as a graph, the hops of one pattern.
import type { Row } from '../../core/api';
import { h, put, s, sideways } from '../../core/dom';
import { csv, svg } from '../../core/exports';
import { count, duration, share } from '../../core/format';
import { graph } from '../../core/graph';
import { elsewhere } from '../../core/link';
import { askOther, pinned } from '../../core/selection';
import { empty } from '../../core/state';
import { Table, type Column } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';

const CLIENT = '(clients)';
const PATTERNS_MAX = '1000';
const ARROWS_MAX = 150;

function system(rows: Row[], before: Row[] | null, link: Link, app: App, room: { width: number; height: number }): SVGSVGElement {
	const nodes = rows.filter(r => r.section === 'node'),
		edges = rows.filter(r => r.section === 'edge').slice(0, ARROWS_MAX);
	const most = Math.max(1, ...edges.map(e => e.count as number)),
		old = new Map((before ?? []).filter(r => r.section === 'node').map(r => [r.node as string, r]));
	const boxes = nodes.map(n => {
		const was = old.get(n.node);
		const change = was ? ` (${duration(was.self)})` : '';
		return {
			id: n.node as string,
			title: n.node as string,
			note: `${share(n.share)}, ${duration(n.self)} each${change}`,
			weight: n.share as number,
			isPicked: link.params.node === n.node,
			hint: `${n.node}\n${count(n.count)} calls\nown time ${duration(n.self)} each${was ? `, was ${duration(was.self)}` : ''}`,
		};
	});
	if (edges.some(e => e.from === null))
		boxes.unshift({ id: CLIENT, title: CLIENT, note: 'where requests come from', weight: 0, isPicked: false, hint: 'Requests begin here' });
	return graph(
		boxes,
		edges.map(e => ({
			from: e.from ?? CLIENT,
			to: e.to as string,
			note: count(e.count),
			weight: e.count / most,
			hint: `${e.from ?? CLIENT} to ${e.to}: ${count(e.count)} calls, ${duration(e.mean)} each, ${duration(e.delay)} after the caller began`,
		})),
		{
			label: 'The system as a graph',
			room,
			pick: id => {
				if (id !== CLIENT) app.select({ node: link.params.node === id ? '' : id });
			},
		},
	);
}

/** The percentiles that the server tells (culprit paths --spread). */
const AT = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/** Half of the height of the shape at each percentile: as dense as calls are between its neighbours, on the scale of the axis. */
function density(xs: number[]): number[] {
	const dense = xs.map((_, i) => {
		const lo = Math.max(0, i - 1),
			hi = Math.min(xs.length - 1, i + 1);
		return (AT[hi]! - AT[lo]!) / Math.max(2, xs[hi]! - xs[lo]!);
	});
	const most = Math.max(...dense, 1e-9);
	return dense.map(d => Math.sqrt(d / most));
}

/** How the calls of a hop are spread: wide where many are; the line is the median, the mark the mean. */
function spread(hop: Row, max: number, was?: Row): SVGElement {
	const W = 360,
		H = 22,
		MID = H / 2,
		x = (v: number): number => (W * Math.log1p(v / 1e4)) / Math.log1p(Math.max(1, max) / 1e4);
	const xs = (hop.spread as number[]).map(x),
		half = density(xs),
		r = (v: number): string => v.toFixed(1);
	const shape =
		`M${r(xs[0]!)},${MID}` +
		xs.map((at, i) => `L${r(at)},${r(MID - 1 - 8 * half[i]!)}`).join('') +
		`L${r(xs[xs.length - 1]!)},${MID}` +
		xs
			.map((at, i) => [at, half[i]!] as const)
			.reverse()
			.map(([at, t]) => `L${r(at)},${r(MID + 1 + 8 * t)}`)
			.join('') +
		'Z';
	return s(
		'svg',
		{
			class: 'spread',
			width: W,
			height: H,
			viewBox: `0 0 ${W} ${H}`,
			role: 'img',
			'aria-label': `half below ${duration(hop.p50)}, 99 % below ${duration(hop.p99)}`,
		},
		s('title', {}, AT.map((p, i) => `${Math.round(100 * p)} % below ${duration((hop.spread as number[])[i]!)}`).join('\n')),
		s('rect', { x: 0, y: MID - 0.5, width: W, height: 1, class: 'track' }),
		s('path', { d: shape, class: 'run' }),
		s('rect', { x: x(hop.p50) - 0.5, y: 3, width: 1.5, height: H - 6, class: 'median' }),
		s('rect', { x: x(hop.mean) - 1, y: 1, width: 3, height: H - 2, class: 'crit' }),
		was ? s('rect', { x: x(was.mean) - 1, y: 1, width: 2, height: H - 2, class: 'was' }) : null,
	);
}

/** Nodes that stand for each other are one hop; which of them is slower is told below it. */
function replicas(hop: Row): HTMLElement | null {
	const all = (hop.replicas ?? []) as Row[];
	return all.length > 1 ? h('div', { class: 'quiet' }, all.map(r => `${r.node} ${duration(r.mean)}`).join(', ')) : null;
}

function hops(pattern: Row, was: Row | undefined): HTMLElement {
	const all = pattern.hops as Row[],
		max = Math.max(...all.map(x => x.p99 as number), 1);
	return h(
		'div',
		{ class: 'hops' },
		h('h2', {}, pattern.path),
		h(
			'p',
			{ class: 'quiet' },
			`${count(pattern.count)} requests, ${duration(pattern.mean)} each. Each shape shows how long the calls of a hop take: wide where many are, from the first to the last percent (log scale); thin line the median, thick mark the mean${was ? ', dark mark the mean before' : ''}.`,
		),
		sideways(
			'Hops',
			h(
				'table',
				{},
				h('thead', {}, h('tr', {}, ...['Node', 'Calls', 'Begins after', 'Took', 'Of its own', 'Spread'].map(t => h('th', { scope: 'col' }, t)))),
				h(
					'tbody',
					{},
					...all.map((hop, i) => {
						const name = h('td', {}, hop.node, replicas(hop));
						name.style.paddingLeft = `${8 + 16 * hop.depth}px`;
						const old = was?.hops?.[i];
						return h(
							'tr',
							{},
							name,
							h('td', { class: 'num' }, count(hop.calls)),
							h('td', { class: 'num' }, duration(hop.delay)),
							h('td', { class: 'num' }, duration(hop.mean), old ? h('span', { class: 'quiet' }, ` was ${duration(old.mean)}`) : null),
							h('td', { class: 'num' }, duration(hop.self)),
							h('td', {}, spread(hop, max, old)),
						);
					}),
				),
			),
		),
	);
}

export const paths: View = {
	id: 'paths',
	title: 'Paths',
	isOfRequests: true,
	letter: 'p',
	about: 'ways through the nodes, and the delay of every hop',
	open(root: HTMLElement, app: App): Opened {
		const drawing = h('div', { class: 'drawing' }),
			below = h('div', { class: 'below' });
		let rows: Row[] = [],
			before = new Map<string, Row>();
		const was = (r: Row): Row | undefined => before.get(r.path);
		const columns: Column<Row>[] = [
			{ key: 'path', title: 'Path', value: r => r.path, width: 'minmax(0,4fr)' },
			{ key: 'count', title: 'Requests', value: r => r.count, cell: r => count(r.count), isNumber: true },
			{ key: 'mean', title: 'Mean', value: r => r.mean, cell: r => duration(r.mean), isNumber: true },
			{ key: 'p99', title: 'p99', value: r => r.p99, cell: r => duration(r.p99), isNumber: true },
			{ key: 'share', title: 'Of time', hint: 'share of the time of all requests', value: r => r.share, cell: r => share(r.share), isNumber: true },
		];
		const then: Column<Row> = {
			key: 'before',
			title: 'Before',
			value: r => was(r)?.mean ?? null,
			cell: r => (was(r) ? duration(was(r)!.mean) : '–'),
			isNumber: true,
			width: '4.6rem',
			hint: 'the mean of what is compared with',
		};
		const thenCount: Column<Row> = {
			key: 'before_count',
			title: 'Before',
			value: r => was(r)?.count ?? null,
			cell: r => (was(r) ? count(was(r)!.count) : '–'),
			isNumber: true,
			width: '4rem',
			hint: 'how many in what is compared with',
		};
		const table = new Table<Row>({
			label: 'Patterns of paths',
			columns,
			height: 'calc(max(20.714rem, 36vh) - 2.14rem)',
			open: r => app.select({ path: r.path }),
			sort: { key: 'share', isDown: true },
		});
		put(
			root,
			h('div', { class: 'pathpair' }, h('div', {}, h('h2', {}, 'Patterns'), table.el), h('div', {}, h('h2', {}, 'The system'), drawing)),
			below,
		);
		return {
			async show(link, signal) {
				const fold = { fold: '1', spread: '1', limit: PATTERNS_MAX },
					other = pinned(link);
				const [list, all, oldList, oldAll] = await Promise.all([
					app.ask('paths', fold),
					app.ask('paths', { graph: '1' }),
					askOther(app, other, 'paths', fold),
					askOther(app, other, 'paths', { graph: '1' }),
				]);
				if (signal.aborted) return;
				before = new Map((oldList?.rows ?? []).filter(r => r.path).map(r => [r.path as string, r]));
				rows = list.rows.filter(r => r.path);
				table.columns(other ? [columns[0]!, columns[1]!, thenCount, columns[2]!, then, columns[4]!] : columns);
				table.set(rows);
				put(
					drawing,
					rows.length
						? system(all.rows, oldAll?.rows ?? null, link, app, { width: drawing.clientWidth - 8, height: drawing.clientHeight - 8 })
						: empty('No paths', 'No request of the selection crosses a node.'),
				);
				const picked = rows.find(r => r.path === link.params.path) ?? rows[0];
				put(
					below,
					picked ? hops(picked, was(picked)) : null,
					picked ? h('p', {}, h('a', { href: app.href(elsewhere(link, 'requests')) }, 'the requests of the selection')) : null,
				);
			},
			key: e => table.key(e),
			exports: () => {
				const drawn = drawing.querySelector('svg');
				return [
					table.exportCsv('paths'),
					...(drawn ? [{ name: 'system.svg', title: 'Graph as SVG', make: () => svg(drawn as SVGSVGElement) }] : []),
					{
						name: 'hops.csv',
						title: 'Hops as CSV',
						make: () =>
							csv(
								['path', 'node', 'depth', 'calls', 'mean', 'self', 'delay', 'p50', 'p99'],
								rows.flatMap(r => (r.hops as Row[]).map(x => [r.path, x.node, x.depth, x.calls, x.mean, x.self, x.delay, x.p50, x.p99])),
							),
					},
				];
			},
		};
	},
};
