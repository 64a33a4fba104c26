// What an editor of queries offers at a place in the text: tracepoints, what they export, words of the language.

export interface Tracepoint {
	name: string;
	where: string;
	fields: string[];
}

export interface Offer {
	text: string;
	/** What it is, for the person. */
	what: string;
}

export interface Offers {
	/** Where what was begun begins. */
	from: number;
	offers: Offer[];
}

const DEFAULTS = ['host', 'time', 'procName', 'procId', 'thread', 'tracepoint'];
const WORDS = ['From', 'In', 'Join', 'On', 'Where', 'Let', 'GroupBy', 'Select', 'As', 'and', 'or', 'not'];
const TAKES = ['First', 'FirstN', 'MostRecent', 'MostRecentN', 'All'];
const AGGREGATES = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVERAGE', 'PERCENTILE', 'HISTOGRAM'];
const MOST = 12;

/** The names that stand for tuples, and the tracepoints that they are of. */
export function aliases(text: string): Map<string, string[]> {
	const found = new Map<string, string[]>();
	for (const m of text.matchAll(/\b(?:From|Join)\s+([\w`]+)\s+In\s+([^\n]*?)(?=\b(?:On|Where|Join|Let|GroupBy|Group|Select)\b|[\n;]|$)/gi))
		found.set(
			m[1]!,
			[...m[2]!.matchAll(/[A-Za-z_][\w.]*/g)].map(n => n[0]).filter(n => !TAKES.some(t => t.toLowerCase() === n.toLowerCase())),
		);
	return found;
}

/** Those that begin like it first, then those that hold it. */
function fitting(all: Offer[], begun: string): Offer[] {
	const low = begun.toLowerCase(),
		starts = all.filter(o => o.text.toLowerCase().startsWith(low)),
		holds = all.filter(o => !o.text.toLowerCase().startsWith(low) && low.length > 1 && o.text.toLowerCase().includes(low));
	return [...starts, ...holds].filter(o => o.text !== begun).slice(0, MOST);
}

function fields(of: string[] | undefined, points: Tracepoint[]): Offer[] {
	const own = points.filter(p => of?.includes(p.name)).flatMap(p => p.fields.map(f => ({ text: f, what: p.name })));
	const seen = new Set(own.map(o => o.text));
	return [
		...own.filter((o, i) => own.findIndex(x => x.text === o.text) === i),
		...DEFAULTS.filter(d => !seen.has(d)).map(d => ({ text: d, what: 'of every tracepoint' })),
	];
}

export function complete(text: string, at: number, points: Tracepoint[]): Offers {
	const before = text.slice(0, at),
		begun = /[\w.]*$/.exec(before)![0],
		known = aliases(text);
	// behind In, a bracket or a comma of it: a source
	if (/\bIn\s+(?:(?:First|MostRecent|All)\s*\(\s*|(?:FirstN|MostRecentN)\s*\(\s*\d+\s*,\s*)?(?:[\w.]+\s*,\s*)*[\w.]*$/i.test(before)) {
		const all = [...points.map(p => ({ text: p.name, what: p.where })), ...TAKES.map(t => ({ text: t, what: 'which of those before' }))];
		return { from: at - begun.length, offers: fitting(all, begun) };
	}
	const dot = begun.indexOf('.');
	if (dot > 0 && known.has(begun.slice(0, dot))) {
		const field = begun.slice(dot + 1);
		return { from: at - field.length, offers: fitting(fields(known.get(begun.slice(0, dot)), points), field) };
	}
	if (!begun) return { from: at, offers: [] };
	const all = [
		...[...known.keys()].map(k => ({ text: k, what: (known.get(k) ?? []).join(', ') })),
		...WORDS.map(w => ({ text: w, what: '' })),
		...AGGREGATES.map(w => ({ text: w, what: 'of all rows of a group' })),
	];
	return { from: at - begun.length, offers: fitting(all, begun) };
}
