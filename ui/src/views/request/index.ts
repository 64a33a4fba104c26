// One request: where its time went, its spans over nodes and threads, why they are together, its log lines; beside it the median of its type.
import { h, put } from '../../core/dom';
import { duration, moment, plural } from '../../core/format';
import { elsewhere } from '../../core/link';
import { sure } from '../../core/pictures';
import { csv } from '../../core/exports';
import type { App, Link, Opened, View } from '../../core/view';
import { ranking, strip } from './critical';
import { detail } from './detail';
import { Timeline } from './timeline';
import { treeOf, type Request } from './tree';

async function load(app: App, id: string): Promise<Request> {
	// the id decides: the selection must not
	const none = { type: '', node: '', from: '', until: '', min: '', max: '' }, request = { ...none, request: id };
	const [tree, why, path] = await Promise.all([app.ask('requests', request), app.ask('requests', { ...request, why: '1' }), app.ask('requests', { ...request, 'critical-path': '1' })]);
	return treeOf(tree.rows, why.rows, path.rows.find(r => r.sections)?.sections ?? []);
}

/** The slowest of the selection, when the link names none. */
async function firstOf(app: App): Promise<string | null> {
	const { rows } = await app.ask('requests', { slowest: '1' });
	return rows[0]?.id !== undefined ? String(rows[0].id) : null;
}

function head(r: Request, app: App, link: Link): HTMLElement {
	const { id, type, start, duration: took, events, nodes, confidence, incomplete, errors } = r.head;
	return h('div', { class: 'headline' }, h('h2', {}, `Request ${id}: `, h('a', { href: app.href(elsewhere(link, 'requests', { type })) }, type)),
		h('p', {}, `${duration(took)} from ${moment(start)}, ${plural(r.byId.size, 'span')} on ${plural((nodes ?? []).length, 'node')}, ${plural(events, 'line')}${errors ? ', with errors' : ''}${incomplete ? ', incomplete' : ''}. `, sure(confidence)));
}

export const request: View = {
	id: 'request', title: 'Request', letter: 'o', about: 'one request: its spans over time, what held it up, its log lines',
	open(root: HTMLElement, app: App): Opened {
		const top = h('div', { class: 'top' }), side = h('aside', { class: 'side', 'aria-label': 'Span' });
		const folds = (): Set<string> => new Set((app.link.params.folded ?? '').split(',').filter(Boolean));
		const pick = (span: string): void => app.select({ span });
		const timeline = new Timeline({
			label: 'Spans of the request', pick: span => pick(span.id),
			fold: id => {
				const folded = folds();
				if (!folded.delete(id))
					folded.add(id);
				app.select({ folded: [...folded].join(',') });
			},
		});
		put(root, top, h('div', { class: 'pair' }, timeline.el, side));
		let now: Request | null = null;
		return {
			async show(link, signal) {
				const id = link.params.request ?? await firstOf(app);
				if (signal.aborted)
					return;
				if (id === null) {
					put(top, h('p', {}, 'No request is selected, and there is none in the selection.'));
					return;
				}
				const r = now && String(now.head.id) === id ? now : await load(app, id);
				if (signal.aborted)
					return;
				now = r;
				put(top, head(r, app, link), h('h3', {}, 'What held it up, over time'), strip(r, pick), ranking(r, pick));
				const span = r.byId.get(link.params.span ?? '') ?? r.byId.get(String(r.sections.reduce((a, b) => (b.end - b.start > (a ? a.end - a.start : -1) ? b : a), null as any)?.span)) ?? r.roots[0];
				timeline.set(r, folds(), r.head.duration ?? 0, span?.id);
				timeline.reveal();
				put(side, span ? detail(r, span, pick) : null);
			},
			key: e => timeline.key(e),
			exports: () => now ? [{
				name: `request-${now.head.id}.csv`, title: 'Spans as CSV',
				make: () => csv(['span', 'parent', 'name', 'node', 'thread', 'offset', 'duration', 'self', 'critical'], [...now!.byId.values()].map(s => [s.id, s.parent, s.name, s.node, s.thread, s.offset, s.duration, s.self, s.critical])),
			}] : [],
		};
	},
};
