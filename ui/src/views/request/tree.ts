// The rows of one request as a tree: spans, with their lines below them, as the command line tells them.
import type { Row } from '../../core/api';

export interface Span {
	id: string;
	parent: string | null;
	name: string;
	node: string;
	thread: string;
	/** ns after the start of the request; it may be negative. */
	offset: number;
	duration: number;
	self: number;
	/** ns of it that are on the critical path. */
	critical: number;
	isWait: boolean;
	depth: number;
	children: Span[];
	lines: Row[];
	/** From --why: how it came to be here, and how sure that is. */
	why?: Row;
	row: Row;
}

export interface Request {
	head: Row;
	roots: Span[];
	byId: Map<string, Span>;
	sections: Row[];
	nodes: string[];
}

const isWait = (row: Row): boolean => row.kind === 'wait' || (row.kind === undefined && String(row.name).startsWith('wait for '));

function spanOf(row: Row): Span {
	return {
		id: String(row.span),
		parent: row.parent === undefined || row.parent === null ? null : String(row.parent),
		name: row.name,
		node: row.node ?? '',
		thread: row.thread ?? '',
		offset: row.offset ?? 0,
		duration: row.duration ?? 0,
		self: row.self ?? 0,
		critical: row.critical ?? 0,
		isWait: isWait(row),
		depth: row.depth ?? 0,
		children: [],
		lines: [],
		row,
	};
}

/** Lines follow the span that they are of, one level deeper. */
export function treeOf(rows: Row[], why: Row[], sections: Row[]): Request {
	const head = rows.find(r => r.id !== undefined && r.section === undefined) ?? {};
	const byId = new Map<string, Span>(),
		roots: Span[] = [],
		open: Span[] = [];
	for (const row of rows.filter(r => r.section === 'tree')) {
		while (open.length && open[open.length - 1]!.depth >= row.depth) open.pop();
		if (row.what !== 'span') {
			open[open.length - 1]?.lines.push(row);
			continue;
		}
		const span = spanOf(row),
			above = open[open.length - 1];
		byId.set(span.id, span);
		(above ? above.children : roots).push(span);
		open.push(span);
	}
	for (const row of why.filter(r => r.section === 'why')) {
		const span = byId.get(String(row.span));
		if (span) span.why = row;
	}
	return { head, roots, byId, sections, nodes: [...new Set([...byId.values()].map(s => s.node))] };
}

/** ns after the start of a request: where its axis begins, and how long it is. */
export interface Extent {
	from: number;
	length: number;
}

/** What holds all of the requests to one scale: spans may begin earlier than their request, and end later. */
export function extentOf(...requests: Request[]): Extent {
	let from = 0,
		until = 1;
	for (const r of requests) {
		until = Math.max(until, r.head.duration ?? 0);
		for (const s of r.byId.values()) {
			from = Math.min(from, s.offset);
			until = Math.max(until, s.offset + s.duration);
		}
	}
	return { from, length: until - from };
}

/** In the order of the tree; what is folded is left out. */
export function unfolded(spans: Span[], folded: Set<string>, to: { span: Span; depth: number }[] = [], depth = 0): { span: Span; depth: number }[] {
	for (const span of spans) {
		to.push({ span, depth });
		if (!folded.has(span.id)) unfolded(span.children, folded, to, depth + 1);
	}
	return to;
}
