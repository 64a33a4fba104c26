// What a view is: a folder under views/ with one of these, and a line in views/index.ts.
import type { Answer, Row } from './api';
import type { Link } from './link';

export interface Run {
	run: number;
	name: string;
	state: 'pending' | 'ready' | 'failed';
	doing?: string;
	share?: number | null;
	seconds?: number;
	requests?: number;
	spans?: number;
	events?: number;
	lines?: number;
	files?: number;
	bytes?: number;
	first?: number;
	last?: number;
	error?: string;
}

/** What can be taken out of a view: a name with its ending, and what makes it. */
export interface Export {
	name: string;
	title: string;
	make(): Blob | Promise<Blob>;
}

/** What the page does for a view. */
export interface App {
	readonly link: Link;
	readonly runs: Run[];
	/** Goes there: a step that "back" undoes. */
	go(link: Link): void;
	/** Changes the selection, or parameters of the view, in place. */
	select(params: Record<string, string>): void;
	/** A question about the run and the selection that the link names; more parameters on top. Only those that the question knows are sent. */
	ask(question: string, params?: Record<string, string>): Promise<Answer>;
	/** The href of a link, for anchors. */
	href(link: Link): string;
	/** Says something for a moment. */
	say(text: string): void;
}

export interface Opened {
	/** Called when the link changed; what was asked for an older link must not be shown: look at signal.aborted after each await. */
	show(link: Link, signal: AbortSignal): Promise<void>;
	exports?(): Export[];
	/** The keys of the view; true when it was one. */
	key?(e: KeyboardEvent): boolean;
	close?(): void;
}

export interface View {
	id: string;
	title: string;
	/** One letter: opens the view from anywhere after g. */
	letter: string;
	/** What one finds there, for the help and the tooltip. */
	about: string;
	/** Shows requests: where there are none, the page says so in its place. */
	isOfRequests?: boolean;
	/** Shows something else than a run. */
	needsNoRun?: boolean;
	/** Whether it makes sense for these runs; when it does not, why not and what to do. */
	lacks?(runs: Run[], link: Link): string | null;
	open(root: HTMLElement, app: App): Opened;
}

export type { Answer, Link, Row };
