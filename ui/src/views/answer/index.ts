// The findings in order: each a sentence with its number, how sure it is, a picture, and the way to its evidence.
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { csv } from '../../core/exports';
import { count, duration } from '../../core/format';
import { elsewhere } from '../../core/link';
import { against, part, sure, when } from '../../core/pictures';
import { selected, sideNote, written } from '../../core/selection';
import { empty } from '../../core/state';
import { Table } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';

const HINT = 0.5; // less sure than that is no finding to act upon

const KIND: Record<string, string> = { 'anomalies': 'What is odd', 'why-slow': 'Why slow', 'objects': 'What waits', 'changes': 'What changed' };

/** Both to one scale, named as the kind of finding means them. */
function picture(f: Row): Element | null {
	const times = (n: number): string => `${count(n)} times`;
	if (f.anomaly === 'stutter') return against(`${f.node} stops`, f.count, 'all its peers together', f.count_usual, times);
	if (f.section === 'objects') return against('ends that coincide', f.hits, 'by chance', f.expected, v => `${Math.round(10 * v) / 10} of ${f.of}`);
	if (typeof f.took === 'number' && typeof f.usual === 'number' && f.took > 0)
		return against(f.node ? String(f.node) : 'then', f.took, f.anomaly === 'slow node' ? 'its peers' : 'usually', f.usual, duration);
	if (typeof f.slow === 'number' && typeof f.median === 'number') return against('the slowest', f.slow, 'the median', f.median, duration);
	if (typeof f.share === 'number') return part(f.share, 'of the difference');
	return null;
}

/** When it was, within the run. */
function stretch(f: Row, app: App, link: Link): Element | null {
	const run = app.runs.find(r => String(r.run) === (link.params.run ?? '1'));
	if ((!f.began && !f.ended) || !run?.first || !run.last) return null;
	return when(run.first, run.last, f.began ?? null, f.ended ?? null);
}

const down = (ns: number): string => String(Math.floor(ns / 1000) * 1000);
const up = (ns: number): string => String(Math.ceil(ns / 1000 + 1) * 1000);

/** The slow time against the time before it, or after it where that is longer. */
function beforeAndAfter(f: Row, app: App, link: Link): Link | null {
	const run = app.runs.find(r => String(r.run) === (link.params.run ?? '1')),
		usual = { ...selected(link), ...(f.type ? { type: String(f.type) } : {}) };
	if ((!f.began && !f.ended) || !run?.first || !run.last) return null;
	const isBefore = f.began && (!f.ended || f.began - run.first >= run.last - f.ended),
		now = { ...usual, from: f.began ? down(f.began) : usual.from, until: f.ended ? up(f.ended) : usual.until },
		other = isBefore ? { ...usual, until: down(f.began) } : { ...usual, from: up(f.ended) };
	return elsewhere(link, 'diff', { ...now, against: usual.run, then: written(other) });
}

interface Way {
	text: string;
	to: Link;
	hint: string;
}

/** Where the evidence is, the best first. */
function waysOf(f: Row, app: App, link: Link): Way[] {
	if (f.section === 'objects')
		return f.object
			? [
					{
						text: `See ${f.object}`,
						to: elsewhere(link, 'objects', {
							object: String(f.object),
							...(f.waited_for ? { with: String(f.waited_for) } : {}),
							...(f.silent_from ? { gap: `${f.silent_from},${f.silent_until}` } : {}),
						}),
						hint: 'its life, its silences, and what they wait for',
					},
				]
			: [];
	if (!f.type && !f.node && !f.anomaly) {
		const run = app.runs.find(r => String(r.run) === (link.params.run ?? '1'));
		return run?.requests
			? [{ text: 'See the slowest request', to: elsewhere(link, 'request'), hint: 'where its time goes' }]
			: [{ text: 'See the objects', to: elsewhere(link, 'objects'), hint: 'what the logs name' }];
	}
	const about: Record<string, string> = {},
		spot: Record<string, string> = {},
		all: Way[] = [];
	for (const name of ['type', 'node']) if (f[name]) about[name] = String(f[name]);
	if (f.node) spot.at = String(f.node);
	if (f.name) spot.step = String(f.name);
	((f.examples ?? []) as number[]).slice(0, 3).forEach((id, i) =>
		all.push({
			text: i ? String(id) : `See it in request ${id}`,
			to: elsewhere(link, 'request', { request: String(id), ...spot }),
			hint: `request ${id}, at the step that is meant`,
		}),
	);
	if (Object.keys(about).length)
		all.push({
			text: 'requests over time',
			to: elsewhere(link, 'requests', {
				...about,
				...(f.began || f.ended ? { mark: `${f.began ? down(f.began) : ''},${f.ended ? up(f.ended) : ''}` } : {}),
			}),
			hint: 'latency of all such requests, with the time that is meant',
		});
	const both = beforeAndAfter(f, app, link);
	if (both) all.push({ text: 'against the usual time', to: both, hint: 'what changed, step by step' });
	if (f.path || f.node)
		all.push({ text: 'paths', to: elsewhere(link, 'paths', f.type ? { type: String(f.type) } : {}), hint: 'the way through the system' });
	return all;
}

/** Names that the finding is about stand out. */
function marked(text: string, names: string[]): (Node | string)[] {
	const at = names.filter(n => n.length > 0 && text.includes(n)).sort((a, b) => b.length - a.length)[0];
	if (at === undefined) return [text];
	const rest = names.filter(n => n !== at);
	return text.split(at).flatMap((piece, i) => [...(i ? [h('b', {}, at)] : []), ...marked(piece, rest)]);
}

/** The sentence that names the culprit first, then the rest. */
function sentences(f: Row): [string, string[]] {
	const all = String(f.text)
		.split('\n')
		.map(t => t.trim())
		.filter(Boolean);
	if (f.section === 'objects' && f.cause)
		return [
			`${f.type} waits for the end of ${f.of_another ? `a ${f.cause} of another ${f.of_another}` : `another ${f.cause}`}: so end ${f.hits} of ${f.of} silences, ${Math.round(10 * f.expected) / 10} would by chance.`,
			all,
		];
	const first = f.section === 'why-slow' && f.node && all.length > 1 ? 1 : 0;
	return [all[first] ?? '', all.filter((_, i) => i !== first)];
}

function card(f: Row, nr: number, app: App, link: Link): HTMLElement {
	const [first, rest] = sentences(f),
		names = [f.node, f.name, f.object, f.waited_for, f.cause].filter((n): n is string => typeof n === 'string'),
		ways = waysOf(f, app, link),
		main = ways[0];
	return h(
		'article',
		{
			class: `finding${nr === 1 && (f.confidence ?? 0) >= HINT ? ' first' : ''}`,
			tabindex: 0,
			'data-nr': nr,
			keydown: e => {
				if ((e as KeyboardEvent).key !== 'Enter' || e.target !== e.currentTarget || !main) return;
				e.preventDefault();
				app.go(main.to);
			},
		},
		h(
			'div',
			{ class: 'words' },
			h('h2', {}, `${nr}. ${KIND[f.section] ?? f.section}${f.type ? `: ${f.type}` : ''}`),
			h('p', { class: 'sentence' }, ...marked(first, names)),
			...rest.map(t => h('p', { class: 'quiet' }, t)),
			h(
				'p',
				{ class: 'ways' },
				...ways.map((w, i) => h('a', { class: i ? '' : 'main', href: app.href(w.to), title: w.hint }, w.text)),
				f.command ? h('code', { title: 'the same on the command line' }, String(f.command)) : null,
			),
		),
		h(
			'div',
			{ class: 'picture' },
			picture(f),
			stretch(f, app, link),
			sure(f.confidence),
			typeof f.confidence === 'number' && f.confidence < HINT ? h('span', { class: 'quiet' }, 'a hint only: few requests tell of it') : null,
		),
	);
}

export const answer: View = {
	id: 'answer',
	title: 'Answer',
	letter: 'a',
	about: 'what is slow and why, the most important first',
	open(root: HTMLElement, app: App): Opened {
		const findings = h('div', { class: 'findings' }),
			note = h('div', {});
		const types = new Table<Row>({
			label: 'Types of requests',
			height: '22.86rem',
			columns: [
				{ key: 'type', title: 'Type', value: r => r.type, width: 'minmax(0,4fr)' },
				{ key: 'count', title: 'Requests', value: r => r.count, cell: r => count(r.count), isNumber: true },
				{ key: 'errors', title: 'Errors', value: r => r.errors, cell: r => count(r.errors), isNumber: true },
				...['p50', 'p90', 'p99', 'max'].map(p => ({
					key: p,
					title: p,
					value: (r: Row) => r[p] as number,
					cell: (r: Row) => duration(r[p]),
					isNumber: true,
				})),
			],
			open: r => app.go(elsewhere(app.link, 'requests', { type: r.type })),
			href: r => app.href(elsewhere(app.link, 'requests', { type: r.type })),
		});
		const all = h('section', { 'aria-label': 'All types' }, h('h2', {}, 'All types'), types.el);
		put(root, note, h('div', { class: 'answerpair' }, findings, all));
		let at = -1,
			told: Row[] = [];
		return {
			async show(link, signal) {
				put(note, sideNote(link, app));
				const { rows } = await app.ask('answer');
				if (signal.aborted) return;
				told = rows.filter(r => r.text && r.section !== 'steps');
				put(
					findings,
					...(told.length
						? told.map((f, i) => card(f, i + 1, app, link))
						: [
								empty(
									'Nothing stands out',
									'No request is much slower than others of its type, and nothing odd was seen. Look at the types below, or compare with another run.',
								),
							]),
				);
				types.set(rows.filter(r => r.section === 'types'));
				all.hidden = !types.length;
				at = -1;
			},
			exports: () => [
				{
					name: 'findings.csv',
					title: 'Findings as CSV',
					make: () =>
						csv(
							['nr', 'kind', 'type', 'node', 'name', 'share', 'confidence', 'began', 'ended', 'examples', 'text'],
							told.map((f, i) => [
								i + 1,
								f.section,
								f.type,
								f.node,
								f.name,
								f.share,
								f.confidence,
								f.began,
								f.ended,
								(f.examples ?? []).join(' '),
								f.text,
							]),
						),
				},
				types.exportCsv('types'),
			],
			key(e) {
				const cards = [...findings.querySelectorAll<HTMLElement>('.finding')];
				if ((e.key !== 'j' && e.key !== 'k' && e.key !== 'ArrowDown' && e.key !== 'ArrowUp') || root.querySelector('.tbody:focus')) return false;
				at = Math.max(0, Math.min(cards.length - 1, at + (e.key === 'j' || e.key === 'ArrowDown' ? 1 : -1)));
				cards[at]?.focus();
				return cards.length > 0;
			},
		};
	},
};
