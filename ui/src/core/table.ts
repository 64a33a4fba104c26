// A table of any length: only rows that are seen are in the document. Sorted by a click, searched, walked over by keys.
import { h, put } from './dom';
import { csv } from './exports';
import { scaled } from './theme';
import type { Export } from './view';

export interface Column<T> {
	key: string;
	title: string;
	/** What is sorted by, and written to CSV. */
	value(row: T): string | number | null;
	/** What is shown; the value when missing. */
	cell?(row: T): Node | string;
	isNumber?: boolean;
	/** A share of the width: 1 unless said. */
	width?: string;
	hint?: string;
}

export interface TableOptions<T> {
	label: string;
	columns: Column<T>[];
	/** A click or Enter on a row. */
	open?(row: T): void;
	/** The href of a row, so that it can be opened in a tab of its own. */
	href?(row: T): string;
	sort?: { key: string; isDown: boolean };
	sorted?(key: string, isDown: boolean): void;
	isStrong?(row: T): boolean;
	height?: string;
}

const NUMBER = 'minmax(5.6rem,6.4rem)',
	SHARE = 'minmax(0,1fr)';
const ROW = 28; // px where the page's text has 14, as in the style sheet
const SPARE = 12;

/** A column that has a share of the width has room for some words at least, or for one. */
const readable = (width: string): string =>
	width.replace(/^minmax\(0,([\d.]+)fr\)$/, (_, share) => `minmax(${Number(share) < 2 ? 6 : 10}rem,${share}fr)`);

export class Table<T> {
	readonly el: HTMLElement;
	private rows: T[] = [];
	private shownRows: T[] = [];
	private at = -1;
	private sort: { key: string; isDown: boolean } | null;
	private readonly head: HTMLElement;
	private readonly body: HTMLElement;
	private readonly space: HTMLElement;
	private needle = '';

	constructor(private readonly o: TableOptions<T>) {
		this.sort = o.sort ?? null;
		this.head = h('div', { class: 'tr th', role: 'row' });
		this.space = h('div', { class: 'space', role: 'presentation' });
		this.body = h(
			'div',
			{ class: 'tbody', role: 'rowgroup', tabindex: 0, scroll: () => this.draw(), keydown: e => this.key(e as KeyboardEvent), 'aria-label': o.label },
			this.space,
		);
		this.el = h('div', { class: 'table', role: 'table', 'aria-label': o.label }, h('div', { role: 'rowgroup' }, this.head), this.body);
		if (o.height) {
			this.body.style.height = o.height;
			this.body.style.flex = 'none';
		}
		this.columns(o.columns);
		new ResizeObserver(() => this.draw()).observe(this.body);
	}

	/** Other columns than before, for the rows that come next. */
	columns(columns: Column<T>[]): void {
		this.o.columns = columns;
		const widths = columns.map(c => readable(c.width ?? (c.isNumber ? NUMBER : SHARE)));
		this.el.style.setProperty('--columns', widths.join(' '));
		// with the gaps between columns, and the room at both ends
		const least = widths.reduce((sum, w) => sum + 1 + parseFloat(w.replace('minmax(', '')), 0.43);
		this.el.style.setProperty('--least', `${least.toFixed(2)}rem`);
		this.drawHead();
	}

	set(rows: T[]): void {
		this.rows = rows;
		this.at = -1;
		this.arrange();
	}

	search(needle: string): void {
		this.needle = needle.toLowerCase();
		this.arrange();
	}

	get length(): number {
		return this.shownRows.length;
	}

	exportCsv(name: string): Export {
		return {
			name: `${name}.csv`,
			title: 'Table as CSV',
			make: () =>
				csv(
					this.o.columns.map(c => c.key),
					this.shownRows.map(r => this.o.columns.map(c => c.value(r))),
				),
		};
	}

	private arrange(): void {
		const needle = this.needle;
		this.shownRows = needle
			? this.rows.filter(r =>
					this.o.columns.some(c =>
						String(c.value(r) ?? '')
							.toLowerCase()
							.includes(needle),
					),
				)
			: [...this.rows];
		const column = this.o.columns.find(c => c.key === this.sort?.key);
		if (column) {
			const sign = this.sort!.isDown ? -1 : 1;
			this.shownRows.sort((a, b) => {
				const x = column.value(a),
					y = column.value(b);
				if (x === y) return 0;
				if (x === null) return 1;
				if (y === null) return -1;
				return x < y ? -sign : sign;
			});
		}
		this.el.setAttribute('aria-rowcount', String(this.shownRows.length + 1));
		this.draw();
	}

	private drawHead(): void {
		put(
			this.head,
			...this.o.columns.map(c => {
				const order = this.sort?.key === c.key ? (this.sort.isDown ? 'descending' : 'ascending') : 'none';
				return h(
					'div',
					{ role: 'columnheader', class: c.isNumber ? 'num' : '', 'aria-sort': order },
					h(
						'button',
						{ class: 'sort', title: c.hint ?? `sort by ${c.title}`, click: () => this.sortBy(c) },
						c.title,
						order === 'none' ? '' : order === 'descending' ? ' ▾' : ' ▴',
					),
				);
			}),
		);
	}

	private sortBy(c: Column<T>): void {
		const isDown = this.sort?.key === c.key ? !this.sort.isDown : !!c.isNumber;
		this.sort = { key: c.key, isDown };
		this.drawHead();
		this.arrange();
		this.o.sorted?.(c.key, isDown);
	}

	private draw(): void {
		const high = scaled(ROW),
			first = Math.max(0, Math.floor(this.body.scrollTop / high) - SPARE),
			last = Math.min(this.shownRows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / high) + SPARE);
		const rows: HTMLElement[] = [];
		this.space.style.height = `${this.shownRows.length * high}px`;
		for (let i = first; i < last; i++) rows.push(this.row(this.shownRows[i]!, i, high));
		put(this.space, ...rows);
	}

	private row(row: T, i: number, high: number): HTMLElement {
		const el = h(
			'div',
			{
				class: `tr${i === this.at ? ' at' : ''}${this.o.isStrong?.(row) ? ' strong' : ''}${this.o.open ? ' opens' : ''}`,
				role: 'row',
				'aria-rowindex': i + 2,
				click: () => this.pick(i),
			},
			...this.o.columns.map((c, nr) => {
				const what = c.cell ? c.cell(row) : String(c.value(row) ?? '–');
				const href = nr === 0 ? this.o.href?.(row) : undefined;
				return h(
					'div',
					{ role: 'cell', class: c.isNumber ? 'num' : '', title: typeof what === 'string' ? what : undefined },
					href ? h('a', { href, tabindex: -1 }, what) : what,
				);
			}),
		);
		el.style.top = `${i * high}px`;
		return el;
	}

	private pick(i: number): void {
		this.at = i;
		this.draw();
		const row = this.shownRows[i];
		if (row !== undefined) this.o.open?.(row);
	}

	private step(by: number): void {
		this.at = Math.max(0, Math.min(this.shownRows.length - 1, this.at + by));
		const high = scaled(ROW),
			top = this.at * high;
		if (top < this.body.scrollTop) this.body.scrollTop = top;
		else if (top + high > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top + high - this.body.clientHeight;
		this.draw();
	}

	/** Arrows, j and k walk; Enter opens. Views pass keys on that nobody else took. */
	key(e: KeyboardEvent): boolean {
		const page = Math.max(1, Math.floor(this.body.clientHeight / scaled(ROW)) - 1);
		const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
		const by = steps[e.key];
		if (by !== undefined && this.shownRows.length) this.step(by);
		else if (e.key === 'Enter' && this.at >= 0) this.pick(this.at);
		else return false;
		e.preventDefault();
		e.stopPropagation();
		return true;
	}
}
