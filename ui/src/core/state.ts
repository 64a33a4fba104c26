// What stands in place of a view that has nothing to show yet, or nothing at all.
import { h, put } from './dom';
import { Refused } from './api';

const SLOW_MS = 1200;

/** Dims what was there, whose height stays, so that nothing jumps; says so when it takes long. */
export function waiting(root: HTMLElement): () => void {
	const note = h(
		'p',
		{ class: 'working', role: 'status' },
		'Working it out. What looks into all requests of a large run takes its time once, and is kept.',
	);
	const dim = setTimeout(() => root.setAttribute('aria-busy', 'true'), 150),
		tell = setTimeout(() => root.parentElement?.append(note), SLOW_MS);
	return () => {
		clearTimeout(dim);
		clearTimeout(tell);
		note.remove();
		root.removeAttribute('aria-busy');
	};
}

/** Nothing found: says so, and what to do. */
export function empty(title: string, what: string, command?: string): HTMLElement {
	return h('div', { class: 'empty' }, h('h2', {}, title), h('p', {}, what), command ? h('pre', {}, command) : null);
}

export function failed(root: HTMLElement, error: unknown): void {
	const text = error instanceof Error ? error.message : String(error);
	put(
		root,
		h(
			'div',
			{ class: 'empty failed', role: 'alert' },
			h('h2', {}, error instanceof Refused && error.status === 404 ? 'Not found' : 'This did not work'),
			h('p', {}, text),
		),
	);
}
