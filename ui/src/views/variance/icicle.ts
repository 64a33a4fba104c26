// The variance tree as an icicle: below each function what it calls, as wide as the part of the variance that goes with it.
import type { Row } from '../../core/api';
import { s } from '../../core/dom';
import { duration, share } from '../../core/format';

const ROW = 26,
	LETTER = 7,
	DEEPEST = 14;

interface Box {
	place: Row;
	x: number;
	width: number;
	depth: number;
}

/** Siblings share the width of their parent; where some make up for others, those are left out and the rest is made to fit. */
function boxes(places: Row[], wide: number): Box[] {
	const below = new Map<number, Row[]>(),
		all: Box[] = [];
	for (const p of places)
		if (typeof p.parent === 'number') {
			if (!below.has(p.parent)) below.set(p.parent, []);
			below.get(p.parent)!.push(p);
		}
	const walk = (place: Row, x: number, width: number, depth: number): void => {
		all.push({ place, x, width, depth });
		const children = (below.get(place.place) ?? []).filter(c => c.explains > 0),
			sum = children.reduce((n, c) => n + c.explains, 0),
			scale = width / Math.max(sum, place.explains, 1e-12);
		let at = x;
		if (depth + 1 < DEEPEST)
			for (const c of children) {
				if (c.explains * scale >= 1) walk(c, at, c.explains * scale, depth + 1);
				at += c.explains * scale;
			}
	};
	if (places[0]) walk(places[0], 0, wide, 0);
	return all;
}

const waiting = (place: Row): number =>
	Math.max(
		0,
		Math.min(1, String(place.name).startsWith('wait:') ? 1 : Object.values((place.waits ?? {}) as Record<string, number>).reduce((n, v) => n + v, 0)),
	);

function hint(p: Row): string {
	const waits = Object.entries((p.waits ?? {}) as Record<string, number>).map(([why, v]) => `${share(v)} of its variance is waiting: ${why}`);
	return [
		p.name,
		`${share(p.explains)} of the variance goes with it`,
		`by itself ${share(p.of_variance)} of the variance`,
		`mean ${duration(p.mean)}, sd ${duration(p.sd)}`,
		...waits,
	].join('\n');
}

export function icicle(places: Row[], wide: number, picked: string, pick: (name: string) => void): SVGSVGElement {
	const all = boxes(places, wide),
		height = ROW * (1 + Math.max(0, ...all.map(b => b.depth)));
	return s(
		'svg',
		{
			class: 'icicle',
			viewBox: `0 0 ${wide} ${height}`,
			width: wide,
			height,
			role: 'img',
			'aria-label': 'The variance tree: width is the part of the variance',
		},
		s(
			'defs',
			{},
			s(
				'pattern',
				{ id: 'waits', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
				s('rect', { width: 2.5, height: 6, class: 'stripe' }),
			),
		),
		...all.map(({ place, x, width, depth }) => {
			const y = depth * ROW,
				text = `${place.name} ${share(place.explains)}`,
				fits = Math.floor((width - 10) / LETTER);
			return s(
				'g',
				{ class: `piece${place.name === picked ? ' picked' : ''}${place.inner ? ' inner' : ''}`, click: () => pick(String(place.name)) },
				s('title', {}, hint(place)),
				s('rect', { x: x + 0.5, y: y + 0.5, width: Math.max(0.5, width - 1), height: ROW - 2, class: 'body' }),
				s('rect', { x: x + 0.5, y: y + 0.5, width: Math.max(0, (width - 1) * waiting(place)), height: ROW - 2, class: 'waits', fill: 'url(#waits)' }),
				fits > 3 ? s('text', { x: x + 6, y: y + 17 }, text.length > fits ? `${text.slice(0, fits - 1)}…` : text) : null,
			);
		}),
	);
}
