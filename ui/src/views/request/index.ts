// One request: where its time went, its spans over nodes and threads, why they are together, its log lines; beside it the median of its type.
import { h, put } from '../../core/dom';
import { duration, moment, plural } from '../../core/format';
import { elsewhere } from '../../core/link';
import { sideNote } from '../../core/selection';
import { sure } from '../../core/pictures';
import { csv, svg } from '../../core/exports';
import type { App, Link, Opened, View } from '../../core/view';
import { ranking, strip } from './critical';
import { comparedOf, Hops, MEDIAN, type Compared } from './beside';
import { detail } from './detail';
import { Timeline } from './timeline';
import { extentOf, treeOf, type Request, type Span } from './tree';

// the id decides: the selection must not
const ANY = { type: '', node: '', from: '', until: '', min: '', max: '' };

async function load(app: App, id: string): Promise<Request> {
	const request = { ...ANY, request: id, beside: '' };
	const [tree, why, path] = await Promise.all([
		app.ask('requests', request),
		app.ask('requests', { ...request, why: '1' }),
		app.ask('requests', { ...request, 'critical-path': '1' }),
	]);
	return treeOf(tree.rows, why.rows, path.rows.find(r => r.sections)?.sections ?? []);
}

/** The slowest of the selection, when the link names none. */
async function firstOf(app: App): Promise<string | null> {
	const { rows } = await app.ask('requests', { slowest: '1', beside: '' });
	return rows[0]?.id !== undefined ? String(rows[0].id) : null;
}

function head(r: Request, app: App, link: Link): HTMLElement {
	const { id, type, start, duration: took, events, nodes, confidence, incomplete, errors } = r.head;
	return h(
		'div',
		{ class: 'headline' },
		h('h2', {}, `Request ${id}: `, h('a', { href: app.href(elsewhere(link, 'requests', { type })) }, type)),
		h(
			'p',
			{},
			`${duration(took)} from ${moment(start)}, ${plural(r.byId.size, 'span')} on ${plural((nodes ?? []).length, 'node')}, ${plural(events, 'line')}${errors ? ', with errors' : ''}${incomplete ? ', incomplete' : ''}. `,
			sure(confidence),
		),
	);
}

/** Both hop by hop, and the other one whole; null where there is none. */
async function loadBeside(app: App, id: string, beside: string): Promise<{ compared: Compared; other: Request } | null> {
	const compared = comparedOf(await app.ask('requests', { ...ANY, request: id, compare: '1', beside: beside === MEDIAN ? '' : beside }));
	return compared ? { compared, other: await load(app, String(compared.other.id)) } : null;
}

/** A node has the same colour in both. */
const coloured = (other: Request, r: Request): Request => ({ ...other, nodes: [...r.nodes, ...other.nodes.filter(n => !r.nodes.includes(n))] });

/** Alone, beside the median, beside any other. */
function chooser(beside: string, app: App): HTMLElement {
	const set = (to: string): void => app.select({ beside: to, besidespan: '', besidefolded: '' });
	const choice = (to: string, text: string, hint: string): HTMLElement =>
		h('button', { class: beside === to ? 'here' : '', 'aria-pressed': beside === to ? 'true' : 'false', title: hint, click: () => set(to) }, text);
	const id = h('input', {
		class: 'besideid',
		inputmode: 'numeric',
		placeholder: 'id',
		'aria-label': 'Beside the request with this id',
		value: beside === MEDIAN ? '' : beside,
		change: e => set((e.target as HTMLInputElement).value.trim()),
	});
	return h(
		'div',
		{ class: 'picker', role: 'group', 'aria-label': 'Compare the request' },
		choice('', 'alone', 'This request only'),
		choice(MEDIAN, 'beside the median', 'The median request of its type beside it (m)'),
		h('label', {}, 'beside request ', id),
	);
}

/** The span that a finding means: of this name on this node, or any on it, the one that held the request up longest. */
function meant(r: Request, link: Link): Span | undefined {
	const { at, step } = link.params,
		all = [...r.byId.values()].sort((a, b) => b.critical - a.critical || b.duration - a.duration),
		here = all.filter(s => !at || s.node === at);
	return at || step ? (here.find(s => !step || s.name === step) ?? (at ? here[0] : undefined)) : undefined;
}

/** The span that is told of at first: the one that held the request up longest. */
function longest(r: Request): Span | undefined {
	const part = r.sections.reduce((a, b) => (b.end - b.start > (a ? a.end - a.start : -1) ? b : a), null as any);
	return r.byId.get(String(part?.span)) ?? r.roots[0];
}

export const request: View = {
	id: 'request',
	title: 'Request',
	isOfRequests: true,
	letter: 'o',
	about: 'one request: its spans over time, what held it up, its log lines, and the median beside it',
	open(root: HTMLElement, app: App): Opened {
		const top = h('div', { class: 'top' }),
			side = h('aside', { class: 'side', 'aria-label': 'Span' }),
			hops = new Hops(),
			told = h('div', {});
		/** A timeline whose folded spans and picked span stand in the address under these names. */
		const made = (label: string, names: { folded: string; span: string }, none: Record<string, string>): Timeline =>
			new Timeline({
				label,
				pick: span => app.select({ ...none, [names.span]: span.id }),
				fold: id => {
					const folded = foldsOf(names.folded);
					if (!folded.delete(id)) folded.add(id);
					app.select({ [names.folded]: [...folded].join(',') });
				},
			});
		const foldsOf = (name: string): Set<string> => new Set((app.link.params[name] ?? '').split(',').filter(Boolean));
		const pick = (span: string): void => app.select({ span, besidespan: '' });
		const timeline = made('Spans of the request', { folded: 'folded', span: 'span' }, { besidespan: '' });
		const second = made('Spans of the other request', { folded: 'besidefolded', span: 'besidespan' }, {});
		const caption = h('h3', {}),
			otherCaption = h('h3', {}),
			lane = h('div', { class: 'lane other' }, otherCaption, second.el);
		const lanes = h('div', { class: 'lanes' }, h('div', { class: 'lane' }, caption, timeline.el)),
			pair = h('div', { class: 'pair' }, lanes, side);
		put(root, top, pair);
		let now: Request | null = null,
			with_: { compared: Compared; other: Request } | null = null;

		const showBeside = (r: Request, link: Link): void => {
			pair.classList.toggle('beside', with_ !== null);
			put(caption, `Request ${r.head.id}: ${duration(r.head.duration)}`);
			if (!with_) lane.remove();
			else if (!lane.isConnected) lanes.append(lane);
			if (with_) {
				const { other, compared } = with_;
				put(
					otherCaption,
					h('a', { href: app.href(elsewhere(link, 'request', { request: String(other.head.id) })) }, `Request ${other.head.id}`),
					`: ${duration(other.head.duration)}${compared.other.section === MEDIAN ? ', the median of its type' : ''}`,
				);
				second.set(other, foldsOf('besidefolded'), extentOf(r, other), link.params.besidespan);
				hops.set(r.head, compared);
			}
		};
		return {
			async show(link, signal) {
				const id = link.params.request ?? (await firstOf(app)),
					beside = link.params.beside ?? '';
				if (signal.aborted) return;
				if (id === null) {
					put(top, sideNote(link, app), h('p', {}, 'No request is selected, and there is none in the selection.'));
					return;
				}
				const [r, found] = await Promise.all([load(app, id), beside ? loadBeside(app, id, beside) : null]);
				if (signal.aborted) return;
				now = r;
				with_ = found && { ...found, other: coloured(found.other, r) };
				put(
					top,
					sideNote(link, app),
					h('div', { class: 'headrow' }, head(r, app, link), chooser(beside, app)),
					h('h3', {}, 'What held it up, over time'),
					strip(r, pick),
					ranking(r, pick),
				);
				showBeside(r, link);
				const picked = found?.other.byId.get(link.params.besidespan ?? ''),
					span = picked ?? r.byId.get(link.params.span ?? '') ?? meant(r, link) ?? longest(r);
				timeline.set(r, foldsOf('folded'), found ? extentOf(r, found.other) : extentOf(r), picked ? undefined : span?.id);
				timeline.reveal();
				put(told, span ? detail(picked ? found!.other : r, span, picked ? besidespan => app.select({ besidespan }) : pick) : null);
				put(
					side,
					found
						? hops.el
						: beside
							? h('p', { class: 'quiet' }, 'There is no other request of its type to compare it with. Give the id of any other request above.')
							: null,
					told,
				);
			},
			key: e => {
				if (e.key === 'm') {
					app.select({ beside: app.link.params.beside === MEDIAN ? '' : MEDIAN, besidespan: '', besidefolded: '' });
					return true;
				}
				return timeline.key(e);
			},
			exports: () =>
				now
					? [
							{
								name: `request-${now.head.id}.csv`,
								title: 'Spans as CSV',
								make: () =>
									csv(
										['span', 'parent', 'name', 'node', 'thread', 'offset', 'duration', 'self', 'critical'],
										[...now!.byId.values()].map(s => [s.id, s.parent, s.name, s.node, s.thread, s.offset, s.duration, s.self, s.critical]),
									),
							},
							...(with_ ? [hops.exports()] : []),
							...[...top.querySelectorAll('svg.strip')].map(drawn => ({
								name: `request-${now!.head.id}.svg`,
								title: 'What held it up as SVG',
								make: () => svg(drawn as SVGSVGElement),
							})),
						]
					: [],
		};
	},
};
