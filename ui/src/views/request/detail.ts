// What is known of one span: why it is here, what it waited for, and its log lines, read back from their files.
import { h } from '../../core/dom';
import { clock, duration, share } from '../../core/format';
import { sure } from '../../core/pictures';
import type { Request, Span } from './tree';

const LINES_MAX = 200;

function fact(name: string, value: string | Node | null): HTMLElement | null {
	return value === null || value === '' ? null : h('div', {}, h('dt', {}, name), h('dd', {}, value));
}

/** A wait is for whatever ended it: the span that begins when it ends. */
export function causeOf(request: Request, span: Span): Span | null {
	if (!span.isWait) return null;
	const name = span.name.replace(/^wait for /, ''),
		end = span.offset + span.duration;
	let best: Span | null = null;
	for (const other of request.byId.values())
		if (!other.isWait && other.name === name && (!best || Math.abs(other.offset - end) < Math.abs(best.offset - end))) best = other;
	return best;
}

export function detail(request: Request, span: Span, pick: (id: string) => void): HTMLElement {
	const total = Math.max(1, request.head.duration ?? 1),
		cause = causeOf(request, span),
		after = span.why?.after;
	return h(
		'div',
		{ class: 'detail' },
		h('h2', {}, span.name),
		h(
			'dl',
			{},
			fact('Node', span.node),
			fact('Thread', span.thread),
			fact('Began', `${duration(span.offset)} after the start`),
			fact('Took', `${duration(span.duration)} (${share(span.duration / total)} of the request)`),
			fact('Of its own', duration(span.self)),
			fact(
				'Held the request up',
				span.critical ? `${duration(span.critical)} (${share(span.critical / total)})` : 'no: it is not on the critical path',
			),
			fact(
				'Waited for',
				cause
					? h(
							'button',
							{ class: 'plain link', click: () => pick(cause.id) },
							`${cause.name} on ${cause.node}, which took ${duration(cause.duration)}`,
						)
					: null,
			),
			fact('Why it is here', span.why ? String(span.why.why) : null),
			fact('', span.why ? sure(span.why.confidence) : null),
			fact(
				'Follows',
				after
					? h('button', { class: 'plain link', click: () => pick(String(after)) }, request.byId.get(String(after))?.name ?? `span ${after}`)
					: null,
			),
		),
		span.lines.length ? h('h3', {}, `${span.lines.length} log lines`) : h('p', { class: 'quiet' }, 'No log line is of this span alone.'),
		h(
			'ol',
			{ class: 'lines' },
			...span.lines
				.slice(0, LINES_MAX)
				.map(l =>
					h(
						'li',
						{ title: l.file ? `${l.file}:${l.line}` : '' },
						h('span', { class: 'quiet' }, `${clock(l.start)} ${l.file ?? ''}${l.line ? `:${l.line}` : ''}`),
						h('code', {}, l.name),
					),
				),
		),
		span.lines.length > LINES_MAX ? h('p', { class: 'quiet' }, `and ${span.lines.length - LINES_MAX} more`) : null,
	);
}
