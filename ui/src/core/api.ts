// Puts questions to the server: the answer is what the command line prints with --json, one object a line.

export type Row = Record<string, any>;

export interface Answer {
	rows: Row[];
	/** Everything that was passed over, guessed or corrected, by name. */
	losses: Record<string, number>;
}

export class Refused extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

const KEPT_MAX = 64;
const kept = new Map<string, Promise<Answer>>();
let generation = '';

/** Forgets all answers when a run has changed; whether it has. */
export function forgetUnless(now: string): boolean {
	const isOther = now !== generation;
	if (isOther) kept.clear();
	generation = now;
	return isOther;
}

export function parse(text: string): Answer {
	const rows: Row[] = [];
	let losses: Record<string, number> = {};
	for (const line of text.split('\n')) {
		if (!line) continue;
		const row = JSON.parse(line) as Row;
		if (row.losses && Object.keys(row).length === 1) losses = row.losses;
		else rows.push(row);
	}
	return { rows, losses };
}

export function address(question: string, params: Record<string, string>): string {
	const text = new URLSearchParams(Object.entries(params).filter(([, v]) => v !== undefined)).toString();
	return `/api/${question}${text ? `?${text}` : ''}`;
}

async function fetched(url: string, method = 'GET'): Promise<Answer> {
	const got = await fetch(url, { method }).catch(() => {
		throw new Refused(0, 'The server does not answer. Is culprit serve still running?');
	});
	const text = await got.text();
	if (!got.ok) {
		let why = text;
		try {
			why = JSON.parse(text).error;
		} catch {
			// not ours: shown as it is
		}
		throw new Refused(got.status, why);
	}
	return parse(text);
}

/** The same question is asked once; a failure is not remembered. */
export function ask(question: string, params: Record<string, string>): Promise<Answer> {
	const url = address(question, params);
	const known = kept.get(url);
	if (known) {
		kept.delete(url);
		kept.set(url, known);
		return known;
	}
	const asked = fetched(url);
	asked.catch(() => kept.delete(url));
	kept.set(url, asked);
	if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value!);
	return asked;
}

/** Never remembered: states that change. */
export const now = (what: string, params: Record<string, string> = {}): Promise<Answer> => fetched(address(what, params));
/** Changes something at the server. */
export const change = (what: string, params: Record<string, string>): Promise<Answer> => fetched(address(what, params), 'POST');
