// Where a query is written: completion below the text, what it would do at each tracepoint, and the way to the hub.
import type { Row } from '../../core/api';
import { h, put } from '../../core/dom';
import { count } from '../../core/format';
import { complete, type Offers, type Tracepoint } from './complete';

export interface EditorOptions {
	explain(text: string, isMeasured: boolean): Promise<Row[]>;
	install(text: string): Promise<void>;
}

const few = (v: number): string => (v >= 100 ? count(v) : String(Number(v.toPrecision(3))));

/** One stage: what is done, where, and what it costs. */
function advice(r: Row): HTMLElement {
	const costs = [
		r.tuples !== undefined
			? `packs up to ${few(r.tuples)} ${r.tuples === 1 ? 'tuple' : 'tuples'} a request${r.bytes !== undefined ? `, ${few(r.bytes)} bytes` : ''}`
			: '',
		r.per_second !== undefined ? `runs ${few(r.per_second)} times a second` : '',
		r.rule ? `equal tuples are packed as one (${r.rule})` : '',
	].filter(Boolean);
	return h(
		'li',
		{},
		h('p', { class: 'at' }, h('b', {}, r.advice), ' at ', (r.at as string[]).join(', ')),
		h('pre', {}, (r.operations as string[]).join('\n')),
		costs.length ? h('p', { class: 'quiet' }, costs.join('; ')) : null,
		r.warning ? h('p', { class: 'warning' }, r.warning) : null,
	);
}

export class Editor {
	readonly el: HTMLElement;
	private readonly text: HTMLTextAreaElement;
	private readonly list = h('ul', { class: 'offers', role: 'listbox', id: 'live-offers', 'aria-label': 'Completions', hidden: true });
	private readonly told = h('div', { class: 'told', 'aria-live': 'polite' });
	private points: Tracepoint[] = [];
	private offers: Offers = { from: 0, offers: [] };
	private at = 0;

	constructor(private readonly o: EditorOptions) {
		this.text = h('textarea', {
			rows: 6,
			spellcheck: 'false',
			autocapitalize: 'off',
			'aria-label': 'Query',
			'aria-autocomplete': 'list',
			'aria-controls': 'live-offers',
			placeholder: 'From e In TRACEPOINT\nJoin x In First(TRACEPOINT) On x -> e\nGroupBy x.procName\nSelect x.procName, SUM(e.FIELD)',
			input: () => this.offer(),
			click: () => this.hide(),
			blur: () => this.hide(),
			keydown: e => this.key(e as KeyboardEvent),
		});
		this.el = h(
			'div',
			{ class: 'editor' },
			h('div', { class: 'writing' }, this.text, this.list),
			h(
				'div',
				{ class: 'buttons' },
				h('button', { class: 'explain', click: () => void this.explain() }, 'Explain'),
				h(
					'button',
					{ class: 'measure', title: 'Counts for some seconds how often each stage would run', click: () => void this.explain(true) },
					'Measure',
				),
				h('button', { class: 'install', title: 'Ctrl+Enter', click: () => void this.install() }, 'Install'),
				h('span', { class: 'quiet' }, 'Completions: Tab. Runs until it is removed.'),
			),
			this.told,
		);
	}

	get query(): string {
		return this.text.value;
	}

	set(query: string): void {
		if (this.text.value !== query) this.text.value = query;
	}

	words(points: Tracepoint[]): void {
		this.points = points;
	}

	say(...what: (Node | string)[]): void {
		put(this.told, ...what);
	}

	private offer(): void {
		this.offers = complete(this.text.value, this.text.selectionStart, this.points);
		this.at = 0;
		this.draw();
	}

	private hide(): void {
		this.offers = { from: 0, offers: [] };
		this.draw();
	}

	private draw(): void {
		const { offers } = this.offers;
		this.list.hidden = !offers.length;
		put(
			this.list,
			...offers.map((o, i) =>
				h(
					'li',
					{
						role: 'option',
						id: `live-offer-${i}`,
						'aria-selected': String(i === this.at),
						class: i === this.at ? 'at' : '',
						// before the text loses the cursor
						pointerdown: e => {
							e.preventDefault();
							this.at = i;
							this.take();
						},
					},
					h('span', {}, o.text),
					h('span', { class: 'quiet' }, o.what),
				),
			),
		);
		if (offers.length) this.text.setAttribute('aria-activedescendant', `live-offer-${this.at}`);
		else this.text.removeAttribute('aria-activedescendant');
	}

	private take(): void {
		const offer = this.offers.offers[this.at];
		if (!offer) return;
		this.text.setRangeText(offer.text, this.offers.from, this.text.selectionStart, 'end');
		this.hide();
	}

	private key(e: KeyboardEvent): void {
		const nr = this.offers.offers.length;
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) void this.install();
		else if (nr && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) this.at = (this.at + (e.key === 'ArrowDown' ? 1 : nr - 1)) % nr;
		else if (nr && e.key === 'Tab' && !e.shiftKey) this.take();
		else if (nr && e.key === 'Escape') this.hide();
		else return;
		e.preventDefault();
		e.stopPropagation();
		this.draw();
	}

	async explain(isMeasured = false): Promise<void> {
		if (isMeasured) this.say('Counting for some seconds…');
		try {
			const rows = await this.o.explain(this.query, isMeasured);
			this.say(h('ol', { class: 'advices', 'aria-label': 'What the query does' }, ...rows.filter(r => r.section === 'advice').map(advice)));
		} catch (error) {
			this.fail(error);
		}
	}

	private async install(): Promise<void> {
		try {
			await this.o.install(this.query);
		} catch (error) {
			this.fail(error);
		}
	}

	private fail(error: unknown): void {
		this.say(h('pre', { class: 'wrong', role: 'alert' }, error instanceof Error ? error.message : String(error)));
	}
}
