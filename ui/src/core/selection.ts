// What is selected, and what it is compared with: another selection, another run, or both. The other one stands in the address, too:
// `then` names its parts as the option of diff does, `against` its run.
import { Refused, type Answer } from './api';
import { h } from './dom';
import { clock, date, duration, moment } from './format';
import type { Link } from './link';
import type { App, Run } from './view';

/** A run, and what is selected of it; an empty text for what is not. */
export type Selection = Record<'run' | 'type' | 'node' | 'from' | 'until' | 'min' | 'max', string>;

const PARTS = ['type', 'node', 'from', 'until', 'min', 'max'] as const;
/** What of a view is of one side only: the other has its own. */
const OF_ONE_SIDE = { request: '', span: '', folded: '', beside: '', besidespan: '', besidefolded: '', offset: '', object: '', under: '', open: '' };

/** A moment of the address, without the day where that goes without saying. */
function at(ns: string | undefined, day: string): string {
	const v = Number(ns);
	return date(v) === day ? clock(v, v % 1e9 < 1e3 ? 1e9 : 1) : moment(v);
}

/** The day of a run that lasts no longer. */
export function dayOf(runs: Run[], run: string | undefined): string {
	const r = runs.find(x => String(x.run) === (run || '1'));
	return r?.first && r.last && date(r.first) === date(r.last) ? date(r.first) : '';
}

function timeText(p: Record<string, string>, day: string): string {
	if (p.from && p.until) return `time ${at(p.from, day)} to ${at(p.until, day || date(Number(p.from)))}`;
	return p.from ? `time from ${at(p.from, day)} on` : `time until ${at(p.until, day)}`;
}

/** In words, part by part: which names it has in the address, and what a person reads. */
export const CHIPS: [names: string[], text: (p: Record<string, string>, day: string) => string][] = [
	[['type'], p => `type ${p.type}`],
	[['node'], p => `node ${p.node}`],
	[['level'], p => `level ${p.level}`],
	[['from', 'until'], timeText],
	[
		['min', 'max'],
		p => (p.max ? `latency ${p.min ? duration(Number(p.min)) : '0'} to ${duration(Number(p.max))}` : `latency from ${duration(Number(p.min))} on`),
	],
];

export function selected(link: Link): Selection {
	const part = (name: string): string => link.params[name] ?? '';
	return {
		run: part('run') || '1',
		type: part('type'),
		node: part('node'),
		from: part('from'),
		until: part('until'),
		min: part('min'),
		max: part('max'),
	};
}

const SEAM = ',(?=(?:type|node|from|until|min|max)=)';

/** What looks like the beginning of the next part is none where an odd number of backslashes is in front of it. */
const escaped = (value: string): string => value.replace(new RegExp(`(\\\\*)${SEAM}`, 'g'), '$1$1\\,').replace(/\\+$/, '$&$&');

/** As diff takes it. All parts are named, so that it stays what it is when the first one changes. */
export const written = (s: Selection): string => PARTS.map((name, i) => `${name}=${i + 1 < PARTS.length ? escaped(s[name]) : s[name]}`).join(',');

/** The pieces between seams, without the backslashes that were put in. */
function pieces(text: string): string[] {
	const all: string[] = [];
	let now = '',
		from = 0;
	for (const m of text.matchAll(new RegExp(`(\\\\*)${SEAM}`, 'g'))) {
		const slashes = m[1]!.length;
		now += text.slice(from, m.index) + '\\'.repeat(slashes >> 1);
		from = m.index + m[0].length;
		if (slashes % 2) {
			now += ',';
			continue;
		}
		all.push(now);
		now = '';
	}
	return [...all, now + text.slice(from)];
}

/** A comma ends a value only where another part follows it. What is not named is as in the first; a time or a latency is named as a whole. */
function read(text: string, first: Selection): Selection {
	const given: Partial<Selection> = {};
	for (const piece of pieces(text)) {
		const at = piece.indexOf('='),
			name = piece.slice(0, at) as (typeof PARTS)[number];
		if (PARTS.includes(name)) given[name] = piece.slice(at + 1);
	}
	for (const [a, b] of [
		['from', 'until'],
		['min', 'max'],
	] as const)
		if (given[a] !== undefined || given[b] !== undefined) {
			given[a] ??= '';
			given[b] ??= '';
		}
	return { ...first, ...given };
}

/** What the selection is compared with, or null. */
export function pinned(link: Link): Selection | null {
	const { then, against } = link.params,
		first = selected(link);
	if (!then && !against) return null;
	return { ...(then ? read(then, first) : first), run: against || first.run };
}

export const isSame = (a: Selection, b: Selection): boolean => a.run === b.run && PARTS.every(name => a[name] === b[name]);

/** The parameters by which the present selection becomes what others are compared with. */
export const pin = (link: Link): Record<string, string> => ({ then: written(selected(link)), against: selected(link).run });
export const unpin = { then: '', against: '' };

/** The parameters by which both change places. */
export function swapped(link: Link): Record<string, string> {
	const other = pinned(link);
	return other ? { ...OF_ONE_SIDE, ...other, ...pin(link) } : {};
}

/** With the name of its run where the other is of another. */
export function told(s: Selection, runs: Run[], other: Selection = s): string {
	const parts =
		CHIPS.filter(([names]) => names.some(n => s[n as keyof Selection]))
			.map(([, text]) => text(s, dayOf(runs, s.run)))
			.join(', ') || 'all requests';
	const name =
		s.run !== other.run
			? runs
					.find(r => String(r.run) === s.run)
					?.name.split('/')
					.pop()
			: undefined;
	return name ? `${parts} of ${name}` : parts;
}

/** What of it is not so in the other; all of it where that would say nothing. */
export function toldApart(s: Selection, runs: Run[], other: Selection): string {
	const isApart = ([names]: (typeof CHIPS)[number]): boolean => names.some(n => s[n as keyof Selection] !== other[n as keyof Selection]),
		apart = { ...s };
	for (const chip of CHIPS.filter(c => !isApart(c))) for (const n of chip[0]) apart[n as keyof Selection] = '';
	return PARTS.some(name => s[name] !== other[name]) ? told(apart, runs, other) : told(s, runs, other);
}

/** A question about the other side. It need not have the type or the node of this one: then there is nothing of it, and that is said. */
export async function askOther(app: App, other: Selection | null, question: string, params: Record<string, string>): Promise<Answer | null> {
	if (!other) return null;
	try {
		return await app.ask(question, { ...other, ...params });
	} catch (error) {
		if (!(error instanceof Refused) || error.status >= 500 || !error.status) throw error;
		app.say(`What is compared with has nothing of this: ${error.message}`);
		return { rows: [], losses: {} };
	}
}

/** For views that show one side at a time: which one, and the way to the other. */
export function sideNote(link: Link, app: App): HTMLElement | null {
	const other = pinned(link);
	if (!other || isSame(other, selected(link))) return null;
	return h(
		'p',
		{ class: 'sidenote' },
		h(
			'span',
			{ class: 'words' },
			'Shown here: ',
			h('b', {}, told(selected(link), app.runs, other)),
			'. Not shown: ',
			told(other, app.runs, selected(link)),
			'.',
		),
		h('button', { title: 'Show the other side (x)', click: () => app.select(swapped(link)) }, '⇄ show the other'),
	);
}
