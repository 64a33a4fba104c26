// Draws a graph in layers, from left to right: boxes with two lines of text, edges as wide as what flows through them.
import { Graph, layout } from '@dagrejs/dagre';
import { s } from './dom';
import { isNarrow, scaled } from './theme';

export interface Box {
	id: string;
	title: string;
	note: string;
	/** 0..1: how much of the whole is here; shades the box. */
	weight: number;
	isPicked?: boolean;
	css?: string;
	hint?: string;
}

export interface Arrow {
	from: string;
	to: string;
	note: string;
	/** 0..1 */
	weight: number;
	css?: string;
	hint?: string;
}

export interface GraphOptions {
	label: string;
	pick?(id: string): void;
	pickArrow?(from: string, to: string): void;
	direction?: 'LR' | 'TB';
	/** px that there are. */
	room?: { width: number; height: number };
}

const HEIGHT = 46,
	WIDE_MAX = 240,
	MARGIN = 14;
/** How wide a text is drawn, in the units of the drawing, which is enlarged as a whole on large screens. */
const pen = document.createElement('canvas').getContext('2d')!;
function wide(text: string): number {
	pen.font = '600 12px system-ui, sans-serif';
	return pen.measureText(text).width;
}
function cut(text: string, most: number): string {
	let n = text.length;
	while (n > 1 && wide(n < text.length ? `${text.slice(0, n)}…` : text) > most) n = Math.min(n - 1, Math.ceil((n * most) / wide(text.slice(0, n))));
	return n < text.length ? `${text.slice(0, n)}…` : text;
}
const round = (v: number): number => Math.round(10 * v) / 10;

function arranged(boxes: Box[], arrows: Arrow[], direction: 'LR' | 'TB'): Graph {
	const g = new Graph({ multigraph: false });
	g.setGraph({ rankdir: direction, nodesep: 22, ranksep: direction === 'LR' ? 70 : 56 });
	g.setDefaultEdgeLabel(() => ({}));
	for (const b of boxes)
		g.setNode(b.id, {
			width: Math.min(WIDE_MAX, Math.max(84, Math.max(wide(b.title.slice(0, 80)), wide(b.note.slice(0, 80))) + 20)),
			height: HEIGHT,
		});
	for (const a of arrows) if (a.from !== a.to && g.hasNode(a.from) && g.hasNode(a.to)) g.setEdge(a.from, a.to);
	layout(g);
	return g;
}

function box(b: Box, at: { x: number; y: number; width: number; height: number }, o: GraphOptions): SVGElement {
	const most = at.width - 16;
	const pick = (): void => o.pick?.(b.id);
	return s(
		'g',
		{
			class: `box ${b.css ?? ''}${b.isPicked ? ' picked' : ''}`,
			transform: `translate(${round(at.x - at.width / 2)},${round(at.y - at.height / 2)})`,
			tabindex: o.pick ? 0 : undefined,
			role: o.pick ? 'button' : undefined,
			click: pick,
			keydown: e => {
				if ((e as KeyboardEvent).key === 'Enter') pick();
			},
		},
		s('rect', { width: at.width, height: at.height, rx: 6, class: 'body' }, s('title', {}, b.hint ?? `${b.title}\n${b.note}`)),
		s('rect', { width: at.width, height: at.height, rx: 6, class: 'shade', 'fill-opacity': round(Math.min(1, b.weight) * 0.75) }),
		s('text', { x: 9, y: 19, class: 'title' }, cut(b.title, most)),
		s('text', { x: 9, y: 36, class: 'name' }, cut(b.note, most)),
	);
}

function arrow(a: Arrow, points: { x: number; y: number }[], o: GraphOptions): SVGElement {
	const [first, ...rest] = points;
	const mid = points[Math.floor(points.length / 2)]!;
	const path =
		`M${round(first!.x)},${round(first!.y)}` +
		(rest.length === 2
			? `Q${round(rest[0]!.x)},${round(rest[0]!.y)} ${round(rest[1]!.x)},${round(rest[1]!.y)}`
			: rest.map(p => `L${round(p.x)},${round(p.y)}`).join(''));
	return s(
		'g',
		{ class: `arrow ${a.css ?? ''}`, click: () => o.pickArrow?.(a.from, a.to) },
		s('title', {}, a.hint ?? `${a.from} to ${a.to}: ${a.note}`),
		s('path', { d: path, 'stroke-width': round(1 + 7 * Math.min(1, a.weight)), 'marker-end': 'url(#tip)' }),
		s('text', { x: mid.x, y: mid.y - 5, 'text-anchor': 'middle', class: 'name' }, a.note),
	);
}

/** Of boxes and of the edges, which may lead around them. */
function extent(g: Graph): { left: number; top: number; width: number; height: number } {
	const points = g.edges().flatMap(e => (g.edge(e) as { points: { x: number; y: number }[] }).points);
	for (const id of g.nodes()) {
		const n = g.node(id) as { x: number; y: number; width: number; height: number };
		points.push({ x: n.x - n.width / 2, y: n.y - n.height / 2 }, { x: n.x + n.width / 2, y: n.y + n.height / 2 });
	}
	const xs = points.map(p => p.x),
		ys = points.map(p => p.y),
		left = Math.min(...xs) - MARGIN,
		top = Math.min(...ys) - MARGIN;
	return { left, top, width: Math.max(1, Math.max(...xs) + MARGIN - left), height: Math.max(1, Math.max(...ys) + MARGIN - top) };
}

/** How large a graph can be drawn for all of it to be seen. */
function fits(g: Graph, room: { width: number; height: number }): number {
	const { width, height } = extent(g);
	return Math.min(scaled(1), room.width / width, room.height / height);
}

/** In the direction that is wanted; on a phone in the other one where that is drawn larger. */
function directed(boxes: Box[], arrows: Arrow[], o: GraphOptions): Graph {
	const wanted = o.direction ?? 'LR',
		g = arranged(boxes, arrows, wanted);
	if (!o.room || !isNarrow() || fits(g, o.room) >= scaled(1)) return g;
	const turned = arranged(boxes, arrows, wanted === 'LR' ? 'TB' : 'LR');
	return fits(turned, o.room) > fits(g, o.room) ? turned : g;
}

export function graph(boxes: Box[], arrows: Arrow[], o: GraphOptions): SVGSVGElement {
	const g = directed(boxes, arrows, o);
	const { left, top, width, height } = extent(g);
	// a large graph is drawn smaller, down to what can still be read; then one scrolls
	const by = scaled(1),
		scale = Math.max((isNarrow() ? 0.75 : 0.55) * by, o.room ? fits(g, o.room) : by);
	return s(
		'svg',
		{
			class: 'graph',
			width: round(width * scale),
			height: round(height * scale),
			viewBox: `${round(left)} ${round(top)} ${round(width)} ${round(height)}`,
			role: 'group',
			'aria-label': o.label,
		},
		s(
			'defs',
			{},
			s(
				'marker',
				{ id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' },
				s('path', { d: 'M0,0L8,4L0,8z' }),
			),
		),
		...arrows.filter(a => g.hasEdge(a.from, a.to)).map(a => arrow(a, (g.edge(a.from, a.to) as { points: { x: number; y: number }[] }).points, o)),
		...boxes.map(b => box(b, g.node(b.id) as { x: number; y: number; width: number; height: number }, o)),
	);
}
