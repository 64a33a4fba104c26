// Queries on running systems: written with completion, explained, watched as a pivot table and over time; who works for them.
import { change, now, type Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { csv } from '../../core/exports';
import { clock, count, moment, plural, share } from '../../core/format';
import { empty } from '../../core/state';
import { Table } from '../../core/table';
import type { App, Link, Opened, View } from '../../core/view';
import { Editor } from './editor';
import { beyond, keeping, list, only, pivot, ROWS_MAX, type Column, type Live } from './pivot';
import { Series } from './series';

const EVERY_MS = 1000;

const firstLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** What an agent or hub is known to be like. */
function health(p: Row): string {
	if (p.silent) return `silent since ${clock(p.seen, 1e9)}`;
	return p.dropped ? 'drops rows' : 'well';
}

function peersTable(): Table<Row> {
	const number = (key: string, title: string, hint: string) => ({
		key,
		title,
		hint,
		value: (r: Row) => r[key] as number,
		cell: (r: Row) => count(r[key]),
		isNumber: true,
		width: '5.4rem',
	});
	return new Table<Row>({
		label: 'Agents and hubs',
		height: '12rem',
		columns: [
			{ key: 'name', title: 'Name', value: r => r.name, width: 'minmax(0,2fr)' },
			{ key: 'kind', title: 'Kind', value: r => r.kind, width: '4.6rem' },
			{
				key: 'below',
				title: 'Below',
				value: r => r.below ?? null,
				cell: r => (r.below === undefined ? '–' : `${plural(r.below, 'agent')}${r.silent_below ? `, ${count(r.silent_below)} silent` : ''}`),
				width: 'minmax(0,1fr)',
				hint: 'agents of a hub',
			},
			{ key: 'health', title: 'Health', value: health, width: 'minmax(0,1.4fr)' },
			number('processes', 'Processes', 'that advice runs in'),
			number('reports', 'Reports', 'that came'),
			number('dropped', 'Dropped', 'rows that were lost there'),
			number('late', 'Late', 'reports that came late, counted in their second'),
			number('twice', 'Twice', 'reports that came again, counted once'),
			{
				key: 'overhead',
				title: 'Overhead',
				value: r => r.overhead ?? null,
				cell: r => (r.overhead === undefined ? '–' : share(r.overhead)),
				isNumber: true,
				width: '5.8rem',
				hint: 'of the processor time of the processes that are watched',
			},
		],
		isStrong: r => r.silent || r.dropped > 0,
	});
}

/** The query that is picked: its answer so far. */
class Watched {
	readonly el = h('section', { class: 'watched', 'aria-label': 'Answer' });
	private readonly head = h('div', { class: 'head' });
	private readonly table = h('div', { class: 'answer' });
	private readonly note = h('p', { class: 'quiet note' });
	private readonly series = new Series();
	private columns: Column[] = [];
	private headOf = '';
	live: Live | null = null;

	constructor(private readonly app: App) {
		put(this.el, this.head, h('div', { class: 'pair' }, h('div', {}, this.table, this.note), this.series.el));
	}

	close(): void {
		this.series.close();
	}

	nothing(what: HTMLElement): void {
		this.columns = [];
		this.headOf = '';
		this.live = null;
		put(this.head);
		put(this.table, what);
		put(this.note);
		this.series.set(null, 0);
	}

	private across(link: Link): number {
		const keys = this.columns.flatMap((c, i) => (c.key ? [i] : [])),
			named = this.columns.findIndex(c => c.key && c.name === link.params.across);
		if (link.params.across === '-' || keys.length < 2) return -1;
		return named >= 0 ? named : keys[keys.length - 1]!;
	}

	private measure(link: Link): number {
		const named = this.columns.findIndex(c => !c.key && c.name === link.params.measure);
		return named >= 0 ? named : this.columns.findIndex(c => !c.key);
	}

	/** Which rows the server is to put together. */
	private wanted(link: Link): string {
		const across = this.across(link),
			all = keeping(this.columns);
		return !this.columns.length
			? ''
			: across < 0
				? [...new Set([all, '0'])].join(',')
				: [all, keeping(this.columns, [across]), only(across), '0'].join(',');
	}

	async ask(link: Link, id: string): Promise<Record<string, number>> {
		const keep = this.wanted(link),
			got = await now('live/answer', { id, ...(keep ? { keep } : {}) }),
			head = got.rows.find(r => r.section === 'answer')!;
		const isOther = JSON.stringify(this.columns) !== JSON.stringify(head.columns);
		this.columns = head.columns;
		// the first answer tells which keys there are
		if (isOther && this.columns.some(c => c.key)) return this.ask(link, id);
		this.live = {
			columns: head.columns,
			first: head.first,
			step: head.step,
			steps: head.steps,
			rows: got.rows.filter(r => r.section === 'row').map(r => (this.columns.some(c => c.key) ? r : { ...r, keep: 0 })),
			more: got.rows.filter(r => r.section === 'more'),
		};
		return got.losses;
	}

	draw(link: Link, query: Row): void {
		const live = this.live!,
			across = this.across(link),
			measure = this.measure(link);
		this.drawHead(query, across, measure);
		put(
			this.table,
			live.rows.length
				? across < 0
					? list(live)
					: pivot(live, across, measure)
				: empty('Nothing yet', 'No report of this query has come with any row.'),
		);
		const more = beyond(live, across < 0 ? keeping(live.columns) : keeping(live.columns, [across]));
		put(this.note, more ? `${ROWS_MAX} rows are shown, ${count(more)} more are known.` : '');
		this.series.set(live, measure);
	}

	/** Anew only when it changed: who holds a list open keeps it. */
	private drawHead(query: Row, across: number, measure: number): void {
		const what = JSON.stringify([query.id, query.text, this.columns, across, measure]);
		if (what === this.headOf) return;
		this.headOf = what;
		const pick = (label: string, param: string, all: number[], at: number, none?: string): HTMLElement =>
			h(
				'label',
				{},
				h('span', { class: 'quiet' }, label),
				h(
					'select',
					{ 'aria-label': label, change: e => this.app.select({ [param]: (e.target as HTMLSelectElement).value }) },
					none ? h('option', { value: '-', selected: at < 0 }, none) : null,
					...all.map(i => h('option', { value: this.columns[i]!.name, selected: i === at }, this.columns[i]!.name)),
				),
			);
		const keys = this.columns.flatMap((c, i) => (c.key ? [i] : [])),
			measured = this.columns.flatMap((c, i) => (c.key ? [] : [i]));
		put(
			this.head,
			h('h2', {}, query.name || `Query ${query.id}`),
			h('code', { title: query.text }, firstLine(query.text)),
			keys.length > 1 ? pick('Across', 'across', keys, across, 'nothing') : null,
			measured.length > 1 && keys.length ? pick('Measure', 'measure', measured, measure) : null,
		);
	}
}

export const live: View = {
	id: 'live',
	title: 'Live',
	letter: 'l',
	about: 'queries on running systems: write, explain, watch',
	needsNoRun: true,
	open(root: HTMLElement, app: App): Opened {
		const state = h('p', { class: 'hubstate' }),
			queries = h('div', { class: 'standing' }),
			losses = h('p', { class: 'quiet losses-here' });
		const peers = peersTable(),
			watched = new Watched(app);
		let timer = 0,
			isOpen = true,
			hasWords = false;
		const editor = new Editor({
			explain: async (text, isMeasured) => (await (isMeasured ? change('live/measure', { query: text }) : now('live/explain', { query: text }))).rows,
			install: async text => {
				const { rows } = await change('live/install', { query: text });
				const id = String(rows[0]?.id ?? '');
				editor.say(`Installed as query ${id}.`);
				app.select({ id, across: '', measure: '' });
			},
		});
		const remove = async (id: string): Promise<void> => {
			try {
				await change('live/remove', { id });
				app.select({ id: '', across: '', measure: '' });
			} catch (error) {
				app.say(error instanceof Error ? error.message : String(error));
			}
		};
		let shownQueries = '';
		function drawQueries(rows: Row[], picked: string): void {
			const what = JSON.stringify([picked, rows.map(q => [q.id, q.agents, q.agents_failed, q.why, q.rows])]);
			if (what === shownQueries) return;
			shownQueries = what;
			put(
				queries,
				...rows.map(q =>
					h(
						'div',
						{ class: `query${q.id === picked ? ' here' : ''}` },
						h(
							'button',
							{
								class: 'pick',
								'aria-pressed': String(q.id === picked),
								title: q.text,
								click: () => app.select({ id: q.id, across: '', measure: '' }),
							},
							h('b', {}, q.name || `Query ${q.id}`),
							h('span', { class: 'text' }, firstLine(q.text)),
							h(
								'span',
								{ class: 'quiet' },
								`${plural(q.agents, 'agent')}, ${plural(q.rows, 'row')}, since ${moment(q.since).slice(0, 19)}${q.who ? `, of ${q.who}` : ''}`,
							),
							q.agents_failed ? h('span', { class: 'failing' }, `${plural(q.agents_failed, 'agent')} cannot: ${q.why ?? ''}`) : null,
						),
						h('button', { class: 'edit', title: 'Into the editor', click: () => editor.set(q.text) }, 'Edit'),
						h('button', { class: 'remove', title: 'Takes its advice out of all processes', click: () => void remove(q.id) }, 'Remove'),
					),
				),
				rows.length ? null : h('p', { class: 'quiet' }, 'No query stands. Write one, and install it.'),
			);
		}
		const page = h(
			'div',
			{},
			state,
			h(
				'div',
				{ class: 'livepair' },
				h('section', { 'aria-label': 'Write' }, h('h2', {}, 'Ask'), editor.el),
				h('section', { 'aria-label': 'Standing queries' }, h('h2', {}, 'Standing queries'), queries),
			),
			watched.el,
			losses,
			h('h2', {}, 'Agents and hubs'),
			peers.el,
		);
		/** Whether there is anything to look at. */
		async function look(link: Link, signal: AbortSignal): Promise<boolean> {
			const { rows } = await now('live'),
				hub = rows.find(r => r.section === 'hub');
			if (signal.aborted || !isOpen) return false;
			if (!hub) {
				put(
					root,
					empty(
						'No hub is known',
						'Queries on running systems go to a hub, which hands them to the agents of all hosts:',
						'culprit hub --queries\nculprit agent --queries --hub localhost\nculprit serve --hub localhost',
					),
				);
				return false;
			}
			if (!page.isConnected) put(root, page);
			const all = rows.filter(r => r.section === 'query'),
				known = rows.filter(r => r.section === 'peer'),
				silent = known.filter(p => p.silent).length;
			const query = all.find(q => q.id === link.params.id) ?? all[0];
			put(
				state,
				hub.why
					? h('span', { class: 'failing', role: 'alert' }, `The hub ${hub.endpoint} does not answer: ${hub.why}`)
					: `Hub ${hub.endpoint}: ${plural(known.filter(p => p.kind === 'agent').length, 'agent')}${silent ? `, ${count(silent)} silent` : ''}, ${plural(all.length, 'standing query', 'standing queries')}.`,
			);
			drawQueries(all, query?.id ?? '');
			peers.set(known);
			if (!query) {
				watched.nothing(empty('Nothing is watched', 'The answer of a query appears here, second by second.'));
				return true;
			}
			const lost = Object.entries(await watched.ask(link, query.id)).filter(([, n]) => n > 0);
			if (signal.aborted || !isOpen) return false;
			watched.draw(link, query);
			put(
				losses,
				lost.length
					? `May be missing: ${lost.map(([name, n]) => `${count(n)} ${name.replaceAll('_', ' ')}`).join(', ')}.`
					: 'Nothing is known to be missing.',
			);
			return true;
		}
		async function goOn(link: Link, signal: AbortSignal): Promise<void> {
			try {
				await look(link, signal);
			} catch (error) {
				if (!signal.aborted && isOpen)
					put(state, h('span', { class: 'failing', role: 'alert' }, error instanceof Error ? error.message : String(error)));
			}
			if (!signal.aborted && isOpen) timer = window.setTimeout(() => void goOn(link, signal), EVERY_MS);
		}
		return {
			async show(link: Link, signal: AbortSignal) {
				clearTimeout(timer);
				if (!(await look(link, signal))) return;
				if (!hasWords) {
					hasWords = true;
					editor.words((await now('live/words')).rows as never[]);
				}
				if (!signal.aborted && isOpen) timer = window.setTimeout(() => void goOn(link, signal), EVERY_MS);
			},
			key: e => peers.key(e),
			exports: () => {
				const known = watched.live;
				return known
					? [
							{
								name: 'answer.csv',
								title: 'Answer as CSV',
								make: () =>
									csv(
										known.columns.map(c => c.name),
										known.rows
											.filter(r => String(r.keep) === keeping(known.columns))
											.map(r => r.values.map((v: unknown) => (Array.isArray(v) ? JSON.stringify(v) : v))),
									),
							},
							{ ...peers.exportCsv('agents'), title: 'Agents and hubs as CSV' },
						]
					: [];
			},
			close() {
				isOpen = false;
				clearTimeout(timer);
				watched.close();
			},
		};
	},
};
