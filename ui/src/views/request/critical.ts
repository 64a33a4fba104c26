// The critical path as one strip: every nanosecond of the request once, and below it who held it up for how long.
import type { Row } from '../../core/api';
import { h, s } from '../../core/dom';
import { duration, share } from '../../core/format';
import type { Request } from './tree';

interface Held {
	name: string;
	node: string;
	isWait: boolean;
	ns: number;
	span: string;
}

export function held(sections: Row[]): Held[] {
	const sums = new Map<string, Held>();
	for (const part of sections) {
		const key = `${part.node}\n${part.name}\n${part.kind}`,
			ns = part.end - part.start;
		const sum = sums.get(key) ?? { name: part.name, node: part.node, isWait: part.kind === 'wait', ns: 0, span: String(part.span) };
		sum.ns += ns;
		sums.set(key, sum);
	}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

const WIDTH = 1000;

/** Sections in the colours of their nodes; waits are striped. */
export function strip(request: Request, pick: (span: string) => void): SVGElement {
	const all = request.sections,
		from = all[0]?.start ?? 0,
		length = Math.max(1, (all[all.length - 1]?.end ?? 1) - from);
	return s(
		'svg',
		{ class: 'strip', viewBox: `0 0 ${WIDTH} 26`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Critical path over time' },
		s(
			'defs',
			{},
			s(
				'pattern',
				{ id: 'waits', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
				s('rect', { width: 3, height: 6, class: 'stripe' }),
			),
		),
		...all
			.flatMap(part => {
				const x = (WIDTH * (part.start - from)) / length,
					width = Math.max(0.6, (WIDTH * (part.end - part.start)) / length);
				const click = (): void => pick(String(part.span));
				const title = s('title', {}, `${part.name} on ${part.node}: ${duration(part.end - part.start)}${part.kind === 'wait' ? ', waiting' : ''}`);
				return [
					s('rect', { x, width, y: 0, height: 26, class: `n${request.nodes.indexOf(part.node) % 8}`, click }, title),
					part.kind === 'wait' ? s('rect', { x, width, y: 0, height: 26, fill: 'url(#waits)', click }) : null,
				];
			})
			.filter((el): el is Exclude<typeof el, null> => el !== null),
	);
}

/** The largest first, with their part of the whole. */
export function ranking(request: Request, pick: (span: string) => void, most = 6): HTMLElement {
	const all = held(request.sections),
		total = all.reduce((sum, x) => sum + x.ns, 0);
	const rest = all.slice(most).reduce((sum, x) => sum + x.ns, 0);
	return h(
		'ol',
		{ class: 'ranking' },
		...all
			.slice(0, most)
			.map(x =>
				h(
					'li',
					{},
					h(
						'button',
						{ class: 'plain', click: () => pick(x.span) },
						h('span', { class: `dot n${request.nodes.indexOf(x.node) % 8}`, 'aria-hidden': 'true' }),
						h('b', {}, x.name),
						` on ${x.node}`,
						h('span', { class: 'quiet' }, `  ${duration(x.ns)}, ${share(x.ns / Math.max(1, total))}`),
					),
				),
			),
		rest ? h('li', { class: 'quiet' }, `${all.length - most} others: ${duration(rest)}, ${share(rest / Math.max(1, total))}`) : null,
	);
}
