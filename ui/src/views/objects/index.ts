// What the logs name: the types as a graph to go by, the objects over time below their parents, and where the time of one of them goes.
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { canvasPng, csv, svg } from '../../core/exports';
import { count, duration, moment, share } from '../../core/format';
import { graph } from '../../core/graph';
import { elsewhere } from '../../core/link';
import { sideNote } from '../../core/selection';
import { empty } from '../../core/state';
import type { App, Link, Opened, View } from '../../core/view';
import { ObjectTimeline, type Gap, type LinkLine } from './timeline';
import { depths, forest, keyOf, nameOf, rowsOf, type Thing } from './tree';

const INSTANCES = '10000';
const MANY = 2000; // objects, beyond which their moments are asked for after their lives
const FULL = 1000; // objects below the picked one whose moments are told in full
const OPEN_MAX = 60; // rows that are unfolded at first

function types(rows: Row[], link: Link, app: App, room: { width: number; height: number }): SVGSVGElement {
	const all = rows.filter(r => r.signature && r.in_graph),
		most = Math.max(1, ...all.map(t => t.median ?? 0));
	return graph(
		all.map(t => ({
			id: t.type as string,
			title: t.type as string,
			note: `${count(t.instances)} · ${duration(t.median ?? 0)}`,
			weight: (0.5 * (t.median ?? 0)) / most,
			isPicked: link.params.kind === t.type,
			css: t.errors ? 'bad' : '',
			hint: `${t.type}\n${count(t.instances)} objects\nmedian life ${duration(t.median ?? 0)}, longest ${duration(t.max ?? 0)}\n${count(t.events)} lines${t.errors ? `, ${count(t.errors)} errors` : ''}${t.aliases?.length ? `\nalso called ${t.aliases.join(', ')}` : ''}`,
		})),
		rows
			.filter(r => r.relation && r.in_graph && !r.implied)
			.map(r => ({
				from: r.from.join(' '),
				to: r.to.join(' '),
				note: r.deed ?? r.relation,
				weight: 0.15,
				hint: `${r.from.join(' ')} ${r.relation} ${r.to.join(' ')}: ${count(r.support)} lines for it, ${count(r.exceptions)} against`,
			})),
		{
			label: 'Types of objects',
			direction: 'TB',
			room,
			pick: kind => app.select({ kind: link.params.kind === kind ? '' : kind, object: '', under: '' }),
		},
	);
}

function fills(rows: Row[]): HTMLElement {
	const most = Math.max(1e-9, ...rows.map(r => r.share as number));
	return h(
		'div',
		{ class: 'fills' },
		...rows.map(r => {
			const bar = h('span', { class: 'fill', 'aria-hidden': 'true' });
			bar.style.width = `${(100 * r.share) / most}%`;
			return h(
				'div',
				{ class: 'fillrow' },
				bar,
				h('span', {}, `${r.what}${r.count ? ` (${count(r.count)})` : ''}`),
				h('span', { class: 'quiet' }, `${duration(r.time)}, ${share(r.share)}`),
			);
		}),
	);
}

function why(rows: Row[]): HTMLElement {
	const gaps = rows.filter(r => r.section === 'gaps' || r.section === 'silences').slice(0, 6);
	const causes = rows.filter(r => r.section === 'causes').map(r => h('p', { class: 'cause' }, r.text ?? JSON.stringify(r)));
	return h(
		'div',
		{},
		...rows.filter(r => r.section === 'object' && r.text).map(r => h('p', {}, r.text)),
		causes.length ? h('h3', {}, 'What it waits for') : null,
		...causes,
		h('h3', {}, 'What fills its time'),
		fills(rows.filter(r => r.section === 'fills')),
		gaps.length ? h('h3', {}, 'Silences in it') : null,
		h(
			'ul',
			{ class: 'gaps' },
			...gaps.map(g =>
				h('li', {}, `${duration(g.time)} (${share(g.share)}) after ${g.after}, until ${g.until}${g.usual ? `; usually ${duration(g.usual)}` : ''}`),
			),
		),
	);
}

function about(thing: Thing, app: App, link: Link): HTMLElement {
	const parents = thing.row.parents as string[][];
	return h(
		'div',
		{},
		h('h2', {}, thing.name),
		h(
			'p',
			{ class: 'quiet' },
			`${thing.type}, ${duration(thing.last - thing.first)} from ${moment(thing.first)}; ${count(thing.events)} lines${thing.errors ? `, ${count(thing.errors)} errors` : ''}${thing.row.aliases?.length ? `; also ${thing.row.aliases.join(', ')}` : ''}`,
		),
		parents.length
			? h(
					'p',
					{},
					'below ',
					...parents.flatMap((p, i) => [
						i ? ', ' : '',
						h('a', { href: app.href({ view: 'objects', params: { ...link.params, object: keyOf(p) } }) }, nameOf(p)),
					]),
				)
			: null,
		h(
			'p',
			{ class: 'ways' },
			h('button', { click: () => app.select({ under: thing.row.object[0], kind: '' }) }, 'only this and what is below it'),
			h('a', { href: app.href(elsewhere(link, 'requests', { level: 'object', type: thing.type })) }, `all ${thing.type} as requests`),
		),
	);
}

/** Gives rows the moments that others of the same object have; the last ones count. */
function date(to: Row[], ...from: Row[][]): void {
	const known = new Map(
		from
			.flat()
			.filter(r => r.object && r.times)
			.map(r => [keyOf(r.object), r]),
	);
	for (const row of to) {
		const r = known.get(keyOf(row.object));
		if (r) Object.assign(row, { times: r.times, error_times: r.error_times });
	}
}

/** Below nothing. */
function topOf(thing: Thing): Thing {
	let top = thing;
	while (top.above) top = top.above;
	return top;
}

/** The silence that a finding names, and what it waits for. */
function gapOf(link: Link, picked: Thing | undefined, other: Thing | undefined): Gap | null {
	const [from, until] = (link.params.gap ?? '').split(',').map(Number);
	return picked && from && until ? { of: picked.key, from, until, other: other?.key ?? null } : null;
}

/** What the list is narrowed to, and the way back. */
function way(link: Link, app: App): (Node | string)[] {
	const { kind, under, with: other } = link.params;
	if (!kind && !under && !other)
		return [h('span', { class: 'quiet' }, 'Pick a type in the graph, an object in the picture; drag over the picture to select a time.')];
	return [
		kind ? `type ${kind} ` : '',
		under ? `below ${under} ` : '',
		other ? `only what ${link.params.object} and ${other} belong to ` : '',
		h('button', { class: 'chip', click: () => app.select({ kind: '', under: '', with: '' }) }, 'all ×'),
	];
}

export const objects: View = {
	id: 'objects',
	title: 'Objects',
	letter: 'b',
	about: 'what the logs name, its hierarchy, and where its time goes',
	open(root: HTMLElement, app: App): Opened {
		const drawing = h('div', { class: 'drawing typesgraph' }),
			side = h('aside', { class: 'side', 'aria-label': 'Object' }),
			crumbs = h('p', { class: 'crumbs' }),
			note = h('div', {});
		let order: string[] = [],
			shown: Row[] = [],
			byKey = new Map<string, Thing>();
		const unfolded = (): Set<string> | null =>
			app.link.params.open === undefined ? null : new Set(app.link.params.open.split('\u0002').filter(Boolean));
		let opens = new Set<string>();
		const timeline = new ObjectTimeline({
			pick: thing => app.select({ object: thing.key }),
			brush: (from, until) => app.select({ from: String(Math.floor(from)), until: String(Math.ceil(until)) }),
			fold: thing => {
				if (!opens.delete(thing.key)) opens.add(thing.key);
				app.select({ open: [...opens].join('\u0002') || '\u0002' });
			},
			typeNr: type => Math.max(0, order.indexOf(type)),
		});
		put(root, note, h('div', { class: 'objpair' }, drawing, h('div', { class: 'objmain' }, crumbs, timeline.el), side));
		/** Draws what is known; which one is picked. */
		const arrange = (link: Link, graphRows: Row[], links: Row[]): Thing | undefined => {
			const made = forest(shown, depths(graphRows.filter(r => r.relation && r.in_graph && !r.implied))),
				{ kind } = link.params;
			byKey = made.byKey;
			if (kind) made.roots = [...byKey.values()].filter(t => t.type === kind).sort((a, b) => a.first - b.first);
			opens = unfolded() ?? new Set(made.roots.length < OPEN_MAX ? made.roots.filter(r => r.children.length < OPEN_MAX).map(r => r.key) : []);
			const named = (name: string | undefined): Thing | undefined =>
					name ? (byKey.get(name) ?? [...byKey.values()].find(t => t.name === name)) : undefined,
				other = named(link.params.with);
			const picked = link.params.object
				? named(link.params.object)
				: (made.roots.filter(r => r.children.length).sort((a, b) => b.children.length - a.children.length)[0] ?? made.roots[0]);
			// what a finding is about: these two and all that is around them
			if (picked && other) made.roots = [...new Set([topOf(picked), topOf(other)])];
			for (const thing of [picked, other]) for (let t = thing?.above; t && !unfolded(); t = t.above) opens.add(t.key);
			const lines: LinkLine[] = links
				.filter(r => r.a && (keyOf(r.a) === picked?.key || keyOf(r.b) === picked?.key))
				.map(row => ({ a: keyOf(row.a), b: keyOf(row.b), row }));
			const range = shown.reduce((r, o) => ({ from: Math.min(r.from, o.first ?? r.from), until: Math.max(r.until, o.last ?? r.until) }), {
				from: Infinity,
				until: -Infinity,
			});
			timeline.set(
				rowsOf(made.roots, opens),
				opens,
				lines,
				{ from: Number(link.params.from ?? range.from), until: Number(link.params.until ?? range.until) },
				picked?.key,
				gapOf(link, picked, other),
			);
			return picked;
		};
		return {
			async show(link, signal) {
				put(note, sideNote(link, app));
				const [graphRows, links] = await Promise.all([
					app.ask('objects', { type: '', from: '', until: '' }),
					app.ask('objects', { links: '1', limit: '2000', type: '' }),
				]);
				const nr = graphRows.rows.reduce((sum, r) => sum + (r.signature ? (r.instances as number) : 0), 0),
					isMany = nr > MANY,
					{ kind = '', under = '' } = link.params;
				// what is below the objects of a type is shown with them, unless there are too many
				const wanted = { instances: '1', limit: INSTANCES, type: nr > Number(INSTANCES) ? kind : '', under };
				const list = await app.ask('objects', isMany ? wanted : { ...wanted, events: '1' });
				if (signal.aborted) return;
				shown = list.rows.filter(r => r.object);
				if (!shown.length && !graphRows.rows.some(r => r.signature)) {
					put(root, empty('No objects', graphRows.rows.find(r => r.text)?.text ?? 'The logs of this run name nothing that comes again.'));
					return;
				}
				order = graphRows.rows.filter(r => r.signature).map(r => r.type);
				put(drawing, types(graphRows.rows, link, app, { width: drawing.clientWidth - 12, height: drawing.clientHeight - 12 }));
				const picked = arrange(link, graphRows.rows, links.rows);
				put(
					crumbs,
					...way(link, app),
					shown.length >= Number(INSTANCES) && nr > shown.length
						? h(
								'span',
								{ class: 'quiet' },
								` The first ${count(shown.length)} of ${count(nr)} objects: pick a type, an object or a time to see others.`,
							)
						: null,
				);
				put(side, picked ? about(picked, app, link) : null);
				if (!picked) return;
				const reasons = app.ask('objects', { why: picked.row.object[0], type: '' }).catch(() => null);
				if (isMany) {
					// first the lives, then the moments of all, thinned out, and those of what was picked in full
					const [dated, full] = await Promise.all([
						app.ask('objects', { ...wanted, events: '1' }),
						app.ask('objects', { instances: '1', events: '1', limit: String(FULL), under: picked.row.object[0], type: '' }).catch(() => null),
					]);
					if (signal.aborted) return;
					date(shown, dated.rows, full?.rows ?? []);
					arrange(link, graphRows.rows, links.rows);
				}
				const told = await reasons;
				if (!signal.aborted && told) put(side, about(picked, app, link), why(told.rows));
			},
			key: e => timeline.key(e),
			exports: () => {
				const drawn = drawing.querySelector('svg');
				return [
					{
						name: 'objects.csv',
						title: 'Objects as CSV',
						make: () =>
							csv(
								['object', 'type', 'first', 'last', 'events', 'errors', 'parents'],
								shown.map(r => [nameOf(r.object), r.type, r.first, r.last, r.events, r.errors, (r.parents as string[][]).map(nameOf).join('; ')]),
							),
					},
					{ name: 'objects.png', title: 'Timeline as PNG', make: () => canvasPng(timeline.canvas) },
					...(drawn ? [{ name: 'types.svg', title: 'Types as SVG', make: () => svg(drawn as SVGSVGElement) }] : []),
				];
			},
		};
	},
};
