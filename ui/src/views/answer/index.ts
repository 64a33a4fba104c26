// The findings in order: each a sentence with its number, how sure it is, a picture, and the way to its evidence.
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { count, duration } from '../../core/format';
import { elsewhere } from '../../core/link';
import { against, part, sure, when } from '../../core/pictures';
import { sideNote } from '../../core/selection';
import { empty } from '../../core/state';
import { Table } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';

const KIND: Record<string, string> = { 'anomalies': 'What is odd', 'why-slow': 'Why slow', 'objects': 'Objects', 'changes': 'What changed' };

function picture(f: Row): Element | null {
	if (typeof f.took === 'number' && typeof f.usual === 'number' && f.took > 0)
		return against(f.node ? String(f.node) : 'then', f.took, f.node ? 'its peers, or usually' : 'usually', f.usual, duration);
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

/** Where the evidence is: requests that show it, and what it is about. */
function ways(f: Row, app: App, link: Link): HTMLElement {
	const about: Record<string, string> = {};
	for (const name of ['type', 'node']) if (f[name]) about[name] = String(f[name]);
	if (f.began) about.from = String(Math.floor(f.began / 1000) * 1000);
	if (f.ended) about.until = String(Math.ceil(f.ended / 1000 + 1) * 1000);
	const examples = (f.examples ?? []) as number[];
	return h(
		'p',
		{ class: 'ways' },
		...examples.slice(0, 3).map(id => h('a', { href: app.href(elsewhere(link, 'request', { request: String(id) })) }, `request ${id}`)),
		Object.keys(about).length ? h('a', { href: app.href(elsewhere(link, 'requests', about)) }, 'requests of it') : null,
		f.path || f.node ? h('a', { href: app.href(elsewhere(link, 'paths', f.type ? { type: String(f.type) } : {})) }, 'paths') : null,
		f.command ? h('code', { title: 'the same on the command line' }, String(f.command)) : null,
	);
}

function card(f: Row, nr: number, app: App, link: Link): HTMLElement {
	const [first, ...rest] = String(f.text).split('\n');
	return h(
		'article',
		{ class: `finding${nr === 1 ? ' first' : ''}`, tabindex: 0, 'data-nr': nr },
		h(
			'div',
			{ class: 'words' },
			h('h2', {}, `${nr}. ${KIND[f.section] ?? f.section}${f.type ? `: ${f.type}` : ''}`),
			h('p', { class: 'sentence' }, first ?? ''),
			...rest.filter(t => t.trim()).map(t => h('p', { class: 'quiet' }, t)),
			ways(f, app, link),
		),
		h('div', { class: 'picture' }, picture(f), stretch(f, app, link), sure(f.confidence)),
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
			height: '320px',
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
		put(root, note, findings, h('h2', {}, 'All types'), types.el);
		let at = -1;
		return {
			async show(link, signal) {
				put(note, sideNote(link, app));
				const { rows } = await app.ask('answer');
				if (signal.aborted) return;
				const told = rows.filter(r => r.text && r.section !== 'steps');
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
				at = -1;
			},
			exports: () => [types.exportCsv('types')],
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
