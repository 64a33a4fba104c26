// The spans of a request over time, one row each: a bar where it ran, striped where it waited, marked where it held the request up.
import { h, put } from '../../core/dom';
import { duration } from '../../core/format';
import { scaled } from '../../core/theme';
import { unfolded, type Extent, type Request, type Span } from './tree';

const ROW = 24; // px where the page's text has 14, as in the style sheet
const SPARE = 10;

export interface TimelineOptions {
	pick(span: Span): void;
	fold(id: string): void;
	label: string;
}

/** Round steps for an axis of so many ns. */
export function ticks(length: number, most = 8): number[] {
	const raw = Math.max(1, length) / most,
		power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map(m => m * power).find(v => v >= raw) ?? 10 * power;
	return Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => i * step);
}

export class Timeline {
	readonly el: HTMLElement;
	private readonly axis = h('div', { class: 'axis', 'aria-hidden': 'true' });
	private readonly space = h('div', { class: 'space' });
	private readonly body: HTMLElement;
	private rows: { span: Span; depth: number }[] = [];
	private request: Request | null = null;
	private from = 0;
	private length = 1;
	private at = -1;
	private folded = new Set<string>();

	constructor(private readonly o: TimelineOptions) {
		this.body = h(
			'div',
			{
				class: 'rows',
				role: 'tree',
				tabindex: 0,
				'aria-label': o.label,
				scroll: () => this.draw(),
				keydown: e => {
					if (this.key(e as KeyboardEvent)) e.preventDefault();
				},
			},
			this.space,
		);
		this.el = h(
			'div',
			{ class: 'timeline' },
			h(
				'div',
				{ class: 'head' },
				h('div', {}, 'Span'),
				h('div', {}, 'Node'),
				this.axis,
				h('div', { class: 'num' }, 'Took'),
				h('div', { class: 'num', title: 'time of its own, that no child accounts for' }, 'Self'),
			),
			this.body,
		);
		new ResizeObserver(() => {
			this.drawAxis();
			this.draw();
		}).observe(this.body);
	}

	/** axis: so that two requests can be drawn to one scale. */
	set(request: Request, folded: Set<string>, axis: Extent, picked: string | undefined): void {
		this.request = request;
		this.folded = folded;
		this.from = axis.from;
		this.length = axis.length;
		this.rows = unfolded(request.roots, folded);
		this.at = this.rows.findIndex(r => r.span.id === picked);
		this.drawAxis();
		this.draw();
	}

	/** As many steps as can be told apart. */
	private drawAxis(): void {
		if (!this.request) return;
		const most = Math.max(1, Math.min(6, Math.floor(this.axis.clientWidth / scaled(40))));
		put(
			this.axis,
			...ticks(this.length, most)
				.filter(t => t - this.from < 0.95 * this.length)
				.map(t => {
					const tick = h('span', {}, duration(t));
					tick.style.left = `${(100 * (t - this.from)) / this.length}%`;
					return tick;
				}),
		);
	}

	reveal(): void {
		const high = scaled(ROW),
			top = this.at * high;
		if (this.at >= 0 && (top < this.body.scrollTop || top + high > this.body.scrollTop + this.body.clientHeight))
			this.body.scrollTop = top - this.body.clientHeight / 2;
	}

	private draw(): void {
		const high = scaled(ROW),
			first = Math.max(0, Math.floor(this.body.scrollTop / high) - SPARE),
			last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / high) + SPARE);
		const seen: HTMLElement[] = [];
		this.space.style.height = `${this.rows.length * high}px`;
		for (let i = first; i < last; i++) seen.push(this.row(i, high));
		put(this.space, ...seen);
	}

	private bar(span: Span): HTMLElement {
		const el = h('div', { class: `bar${span.isWait ? ' wait' : ''}` });
		el.style.left = `${(100 * (span.offset - this.from)) / this.length}%`;
		el.style.width = `max(2px, ${(100 * span.duration) / this.length}%)`;
		if (span.critical > 0) {
			const held = h('div', { class: 'held' });
			held.style.width = `${Math.min(100, (100 * span.critical) / Math.max(1, span.duration))}%`;
			el.append(held);
		}
		return el;
	}

	private row(i: number, high: number): HTMLElement {
		const { span, depth } = this.rows[i]!;
		const nr = this.request!.nodes.indexOf(span.node);
		const hasMore = span.children.length > 0;
		const name = h(
			'div',
			{ class: 'name', title: span.name },
			hasMore
				? h(
						'button',
						{
							class: 'fold',
							tabindex: -1,
							'aria-label': this.folded.has(span.id) ? 'unfold' : 'fold',
							click: e => {
								e.stopPropagation();
								this.o.fold(span.id);
							},
						},
						this.folded.has(span.id) ? '▸' : '▾',
					)
				: h('span', { class: 'fold' }),
			span.name,
			span.lines.length ? h('span', { class: 'quiet' }, ` ${span.lines.length}≡`) : null,
			span.why && span.why.confidence < 0.8
				? h('span', { class: 'unsure', title: `${Math.round(100 * span.why.confidence)} % sure that it belongs here` }, ' ?')
				: null,
		);
		name.style.setProperty('--depth', String(Math.min(depth, 12)));
		const el = h(
			'div',
			{
				class: `row${i === this.at ? ' at' : ''}${span.critical > 0 ? ' critical' : ''}`,
				role: 'treeitem',
				'aria-level': depth + 1,
				'aria-selected': i === this.at ? 'true' : 'false',
				'aria-expanded': hasMore ? String(!this.folded.has(span.id)) : undefined,
				'data-span': span.id,
				click: () => this.pick(i),
			},
			name,
			h('div', { class: `node n${nr % 8}`, title: span.thread ? `${span.node}, ${span.thread}` : span.node }, span.node),
			h('div', { class: 'track' }, this.bar(span)),
			h('div', { class: 'num' }, duration(span.duration)),
			h('div', { class: 'num quiet' }, duration(span.self)),
		);
		el.style.top = `${i * high}px`;
		return el;
	}

	private pick(i: number): void {
		this.at = i;
		this.draw();
		this.o.pick(this.rows[i]!.span);
	}

	key(e: KeyboardEvent): boolean {
		const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
		const by = steps[e.key],
			span = this.rows[this.at]?.span;
		if (by !== undefined && this.rows.length) {
			this.pick(Math.max(0, Math.min(this.rows.length - 1, this.at + by)));
			this.reveal();
		} else if (
			span &&
			((e.key === 'ArrowLeft' && !this.folded.has(span.id)) || (e.key === 'ArrowRight' && this.folded.has(span.id)) || e.key === 'Enter')
		) {
			this.o.fold(span.id);
		} else {
			return false;
		}
		e.stopPropagation();
		return true;
	}
}
