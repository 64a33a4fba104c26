// Objects below their parents: which rows the timeline has, in which order, with what is folded left out.
import type { Row } from '../../core/api';

export interface Thing {
	key: string;
	name: string;
	type: string;
	first: number;
	last: number;
	events: number;
	errors: number;
	/** Moments at which lines name it, as far as they are kept; of them, those of errors. */
	times: number[];
	errorTimes: number[];
	above: Thing | null;
	children: Thing[];
	row: Row;
}

const later = (row: Row, name: string): number[] => ((row[name] ?? []) as number[]).map(ns => row.first + ns);
export const keyOf = (object: string[]): string => object.join('\u0001');
export const nameOf = (object: string[]): string => object.join(' ');

/** How deep below a root each type stands, by the longest way down. */
export function depths(relations: Row[]): Map<string, number> {
	const deep = new Map<string, number>();
	for (let round = 0, isNew = true; isNew && round < 64; round++) {
		isNew = false;
		for (const r of relations) {
			const from = r.from.join(' '),
				to = r.to.join(' '),
				want = (deep.get(from) ?? 0) + 1;
			if (from !== to && want < 64 && (deep.get(to) ?? 0) < want) {
				deep.set(to, want);
				isNew = true;
			}
		}
	}
	return deep;
}

/** An object with several parents stands below the one whose type is deepest: the nearest. */
export function forest(rows: Row[], deep: Map<string, number>): { roots: Thing[]; byKey: Map<string, Thing> } {
	const byKey = new Map<string, Thing>(),
		roots: Thing[] = [];
	for (const row of rows)
		byKey.set(keyOf(row.object), {
			key: keyOf(row.object),
			name: nameOf(row.object),
			type: row.type,
			first: row.first,
			last: row.last,
			events: row.events,
			errors: row.errors,
			times: later(row, 'times'),
			errorTimes: later(row, 'error_times'),
			above: null,
			children: [],
			row,
		});
	for (const thing of byKey.values()) {
		const parent = (thing.row.parents as string[][])
			.map(p => byKey.get(keyOf(p)))
			.filter((p): p is Thing => !!p && !isBelow(p, thing))
			.sort((a, b) => (deep.get(b.type) ?? 0) - (deep.get(a.type) ?? 0))[0];
		thing.above = parent ?? null;
		(parent ? parent.children : roots).push(thing);
	}
	const order = (a: Thing, b: Thing): number => a.first - b.first || (a.name < b.name ? -1 : 1);
	// what has something below it says more than what stands alone
	roots.sort((a, b) => Number(b.children.length > 0) - Number(a.children.length > 0) || order(a, b));
	for (const thing of byKey.values()) thing.children.sort(order);
	return { roots, byKey };
}

/** Whether it is the other, or below it: then it must not become its parent. */
function isBelow(thing: Thing, other: Thing): boolean {
	for (let at: Thing | null = thing; at; at = at.above) if (at === other) return true;
	return false;
}

export function rowsOf(
	things: Thing[],
	unfolded: Set<string>,
	to: { thing: Thing; depth: number }[] = [],
	depth = 0,
): { thing: Thing; depth: number }[] {
	for (const thing of things) {
		to.push({ thing, depth });
		if (unfolded.has(thing.key)) rowsOf(thing.children, unfolded, to, depth + 1);
	}
	return to;
}
