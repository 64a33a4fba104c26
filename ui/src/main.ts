// The page: frame, address, keys. What is inside the frame is the business of views.
import { ask, forgetUnless, now, type Row } from './core/api';
import { h, put } from './core/dom';
import { saveExport, snapshot } from './core/exports';
import { changed, elsewhere, read, SELECTION, write, type Link } from './core/link';
import { CHIPS, dayOf, pin, pinned, selected, swapped, told, unpin } from './core/selection';
import { empty, failed, waiting } from './core/state';
import { themeInit, themeToggle } from './core/theme';
import type { App, Opened, Run, View } from './core/view';
import { views } from './views';

const POLL_MS = 2000;

const frame = {
	runs: h('div', { class: 'runs' }),
	tabs: h('nav', { class: 'tabs', 'aria-label': 'Views' }),
	selection: h('section', { class: 'selection', 'aria-label': 'Selection' }),
	main: h('main', { id: 'view', tabindex: -1 }),
	losses: h('div', { class: 'losses' }),
	said: h('div', { class: 'said', role: 'status', 'aria-live': 'polite' }),
};

let link: Link = read(location.hash);
let runs: Run[] = [];
let knows = new Map<string, Set<string>>(); // the options of each question
let opened: { view: View; it: Opened; root: HTMLElement } | null = null;
let showing = new AbortController();
let shown = false; // anything at all
let lettered = false; // g was pressed: a letter of a view comes next
let losses: Record<string, number> = {};

const LARGE = 100_000; // requests

const app: App = {
	get link() {
		return link;
	},
	get runs() {
		return runs;
	},
	go: to => {
		location.hash = write(to);
	},
	select: params => {
		location.hash = write(changed(link, params));
	},
	ask: async (question, params = {}) => {
		const all: Record<string, string> = { run: '1', ...link.params, ...params };
		const known = knows.get(question);
		const sent = Object.fromEntries(Object.entries(all).filter(([k, v]) => v !== '' && (k === 'run' || k === 'against' || known?.has(k))));
		if (question !== 'diff') delete sent.against;
		// whole runs are answered ahead and exactly; a selection of very many must not take long
		const size = Math.max(...runs.filter(r => [sent.run, sent.against].includes(String(r.run))).map(r => r.requests ?? 0), 0);
		if (size >= LARGE && known?.has('sample') && SELECTION.some(part => !['run', 'against', 'level'].includes(part) && sent[part]))
			sent.sample ??= '1000';
		const got = await ask(question, sent);
		tellLosses(got.losses);
		return got;
	},
	href: write,
	say: text => {
		put(frame.said, text);
		setTimeout(() => {
			if (frame.said.textContent === text) put(frame.said);
		}, 4000);
	},
};

// --- frame -------------------------------------------------------------------------------------

function tellLosses(more: Record<string, number>): void {
	losses = { ...losses, ...more };
	const all = Object.entries(losses).filter(([, n]) => n > 0);
	put(
		frame.losses,
		all.length
			? h(
					'details',
					{},
					h('summary', {}, all.length === 1 ? '1 kind of losses and guesses' : `${all.length} kinds of losses and guesses`),
					h('ul', {}, ...all.map(([name, n]) => h('li', {}, `${n.toLocaleString('en-US')} ${name.replaceAll('_', ' ')}`))),
				)
			: 'Nothing was passed over or guessed.',
	);
}

/** The file's name, with as much of its path as tells it from the others. */
function shortName(run: Run): string {
	const parts = run.name.split('/');
	for (let n = 1; n < parts.length; n++) {
		const name = parts.slice(-n).join('/');
		if (!runs.some(r => r !== run && r.name.endsWith(`/${name}`))) return name;
	}
	return runs.some(r => r !== run && r.name === run.name) ? `${run.name} (run ${run.run})` : run.name;
}

function drawRuns(): void {
	const picker = (name: string, label: string, none?: string): HTMLElement => {
		const now = link.params[name] ?? (none === undefined ? '1' : '');
		const list = h(
			'select',
			{ 'aria-label': label, change: e => app.select({ [name]: (e.target as HTMLSelectElement).value }) },
			none !== undefined ? h('option', { value: '' }, none) : null,
			...runs.map(r => h('option', { value: r.run, selected: String(r.run) === now, title: r.name }, shortName(r))),
		);
		return h('label', {}, h('span', {}, label), list);
	};
	put(frame.runs, picker('run', 'Run'), runs.length > 1 ? picker('against', 'Against', 'nothing') : null);
}

function drawTabs(): void {
	put(
		frame.tabs,
		...views.map((v, i) =>
			h(
				'a',
				{
					href: write(elsewhere(link, v.id)),
					class: v.id === link.view ? 'here' : '',
					'aria-current': v.id === link.view ? 'page' : undefined,
					title: `${v.about} (${i + 1}, or g ${v.letter})`,
				},
				v.title,
			),
		),
	);
}

/** What the selection is compared with, and the ways to change it. */
function drawPinned(): HTMLElement {
	const other = pinned(link),
		box = h('div', { class: 'pinned' }),
		words = other ? told(other, runs, selected(link)) : '';
	if (!other)
		put(
			box,
			h(
				'button',
				{ class: 'pin', title: 'Keep this selection, select something else, and see both (c)', click: () => app.select(pin(link)) },
				'Compare with this',
			),
		);
	else
		put(
			box,
			h('span', { class: 'quiet' }, 'compared with'),
			h('button', { class: 'chip other', title: `${words}: do not compare any more (Esc)`, click: () => app.select(unpin) }, words, ' ×'),
			h('button', { class: 'swap', title: 'Change places (x)', 'aria-label': 'Let both change places', click: () => app.select(swapped(link)) }, '⇄'),
		);
	return box;
}

function drawSelection(): void {
	const chips = CHIPS.filter(([names]) => names.some(n => link.params[n]));
	put(
		frame.selection,
		h(
			'div',
			{ class: 'chips' },
			...(chips.length
				? chips.map(([names, text]) =>
						h(
							'button',
							{
								class: 'chip',
								title: 'Take this away',
								click: () => app.select(Object.fromEntries(names.map(n => [n, '']))),
							},
							text(link.params, dayOf(runs, link.params.run)),
							' ×',
						),
					)
				: [
						h(
							'span',
							{ class: 'quiet' },
							views.find(v => v.id === link.view)?.needsNoRun
								? 'Running systems, not a run: nothing is selected here.'
								: pinned(link)
									? 'All requests.'
									: 'All requests. Brush a time or a latency, or pick a type or a node: everything follows.',
						),
					]),
		),
		runs.length ? drawPinned() : null,
	);
}

function menu(): HTMLElement {
	const items = h('div', { class: 'menu', role: 'menu' });
	const fill = (): void => {
		const name = `culprit-${link.view}`;
		const page = { name: `${name}.html`, title: 'This view as one HTML file', make: () => snapshot(frame.main, document.title) };
		const tools = ['perfetto', 'jaeger', 'otlp', 'chrome', 'csv'];
		put(
			items,
			...[...(opened?.it.exports?.() ?? []), page].map(e =>
				h('button', { role: 'menuitem', click: () => void saveExport(e).catch(err => app.say(String(err))) }, e.title),
			),
			...tools.map(t =>
				h('a', { role: 'menuitem', download: '', href: `/api/export?format=${t}&run=${link.params.run ?? '1'}` }, `The run for ${t}`),
			),
		);
	};
	return h('details', { class: 'exports', toggle: fill }, h('summary', {}, 'Export'), items);
}

/** What was opened over the page, unless it is meant. */
function closeMenus(at: Node | null = null): void {
	for (const menu of document.querySelectorAll<HTMLDetailsElement>('.exports[open], .losses details[open]'))
		if (!at || !menu.contains(at)) menu.open = false;
}

function drawFrame(): void {
	put(
		document.getElementById('app')!,
		h(
			'a',
			{
				class: 'skip',
				href: '#view',
				click: e => {
					e.preventDefault();
					frame.main.focus();
				},
			},
			'Skip to the view',
		),
		h(
			'header',
			{},
			h('h1', { class: 'brand' }, h('a', { href: '#/' }, 'Culprit')),
			frame.tabs,
			frame.runs,
			menu(),
			h('button', { class: 'plain', title: 'Dark or light (t)', 'aria-label': 'Dark or light', click: themeToggle }, '◐'),
			h('button', { class: 'plain', title: 'Keys (?)', 'aria-label': 'Keys', click: help }, '?'),
		),
		frame.selection,
		frame.main,
		h('footer', {}, frame.losses, frame.said),
	);
}

// --- keys --------------------------------------------------------------------------------------

function help(): void {
	const dialog = h('dialog', { class: 'help', 'aria-label': 'Keys' });
	const keys: [string, string][] = [
		...views.map((v, i): [string, string] => [`${i + 1} or g ${v.letter}`, `${v.title}: ${v.about}`]),
		['/', 'search in this view'],
		['j k ↑ ↓', 'walk over rows'],
		['Enter', 'open the row'],
		['c', 'compare with this selection'],
		['x', 'change places with what it is compared with'],
		['Esc', 'stop comparing, then take the selection away'],
		['t', 'dark or light'],
		['e', 'export'],
		['?', 'this list'],
	];
	put(
		dialog,
		h('h2', {}, 'Keys'),
		h('dl', {}, ...keys.flatMap(([k, what]) => [h('dt', {}, h('kbd', {}, k)), h('dd', {}, what)])),
		h('button', { click: () => dialog.close() }, 'Close'),
	);
	dialog.addEventListener('close', () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

const isTyping = (e: KeyboardEvent): boolean => e.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);

function globalKey(e: KeyboardEvent): boolean {
	const byLetter = lettered ? views.find(v => v.letter === e.key) : undefined;
	const view = byLetter ?? views[Number(e.key) - 1];
	lettered = e.key === 'g' && !lettered;
	if (view) app.go(elsewhere(link, view.id));
	else if (e.key === '/') frame.main.querySelector<HTMLElement>('input[type=search]')?.focus();
	else if (e.key === 't') themeToggle();
	else if (e.key === '?') help();
	else if (e.key === 'e') document.querySelector<HTMLElement>('.exports > summary')?.click();
	else if (e.key === 'c') app.select(pin(link));
	else if (e.key === 'x' && pinned(link)) app.select(swapped(link));
	else if (e.key === 'Escape' && pinned(link)) app.select(unpin);
	else if (e.key === 'Escape') app.select({ type: '', node: '', from: '', until: '', min: '', max: '' });
	else return lettered;
	return true;
}

function onKey(e: KeyboardEvent): void {
	if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
	if (isTyping(e)) {
		if (e.key === 'Escape') (e.target as HTMLElement).blur();
		return;
	}
	if ((!lettered && opened?.it.key?.(e)) || globalKey(e)) e.preventDefault();
}

// --- views -------------------------------------------------------------------------------------

function openView(view: View): void {
	opened?.it.close?.();
	const root = h('section', { class: `view ${view.id}`, 'aria-label': view.title });
	put(frame.main, root);
	scrollTo(0, 0); // on a phone the page scrolls, not the view
	opened = { view, it: view.open(root, app), root };
	document.title = `${view.title} · Culprit`;
}

/** A run that is being made: how far that is. */
function pending(run: Run): HTMLElement {
	const share = run.share ?? null;
	const far = share !== null ? `${Math.floor(100 * share)} %` : run.seconds ? `for ${run.seconds} s` : '';
	return h(
		'div',
		{ class: 'empty pending', role: 'status' },
		h('h2', {}, `${run.name} is being analyzed`),
		h('p', {}, [run.doing, far].filter(Boolean).join(', ')),
		h('progress', { 'aria-label': 'Progress', ...(share === null ? {} : { value: share, max: 1 }) }),
		h('p', { class: 'quiet' }, 'The answer appears here by itself.'),
	);
}

/** What is shown of the runs that the link names: when it changes, all is shown anew. */
function stampOf(all: Run[]): string {
	const named = [link.params.run ?? '1', link.params.against];
	return JSON.stringify([all.length, ...all.filter(r => named.includes(String(r.run)))]);
}

/** Why there is nothing to show, or null. */
function obstacle(view: View): HTMLElement | null {
	const run = runs.find(r => String(r.run) === (link.params.run ?? '1'));
	if (view.needsNoRun) return null;
	if (!runs.length)
		return empty(
			'No run is open',
			'Analyze logs, traces or captures, then open the page with the run:',
			'culprit analyze LOGS -o run.culprit\nculprit serve run.culprit',
		);
	if (!run) return empty('There is no such run', `The link names run ${link.params.run}, and ${runs.length} are open. Pick one above.`);
	if (run.state === 'pending') return pending(run);
	if (run.state === 'failed' || run.error) return empty('This run cannot be shown', run.error ?? run.doing ?? '');
	// objects can be looked at as requests
	if (run.requests === 0 && view.isOfRequests && !link.params.level)
		return empty(
			'This run holds no requests',
			`What its logs name, and where the time of that goes, is shown in Objects (${views.findIndex(v => v.id === 'objects') + 1}). Requests come from traces, captures, and logs that are analyzed as a whole:`,
			'culprit analyze LOGS -o run.culprit',
		);
	const why = view.lacks?.(runs, link);
	return why ? empty(view.title, why) : null;
}

async function show(): Promise<void> {
	const view = views.find(v => v.id === link.view) ?? views[0]!;
	shown = true;
	showing.abort();
	showing = new AbortController();
	const { signal } = showing;
	drawRuns();
	drawTabs();
	drawSelection();
	const why = obstacle(view);
	if (why) {
		opened?.it.close?.();
		opened = null;
		put(frame.main, why);
		return;
	}
	if (opened?.view !== view || !opened.root.isConnected) openView(view);
	const { root, it } = opened!;
	const done = waiting(root);
	delete root.dataset.shown;
	try {
		await it.show(link, signal);
	} catch (error) {
		if (!signal.aborted) {
			failed(root, error);
			opened = null;
		}
	}
	done();
	if (!signal.aborted) root.dataset.shown = write(link);
}

function onHash(): void {
	const before = link.params.run;
	closeMenus();
	link = read(location.hash);
	if (!views.some(v => v.id === link.view)) link = { view: views[0]!.id, params: link.params };
	if (before !== link.params.run) losses = {};
	void show();
}

/** Runs that are being made or kept up to date are looked at again. */
async function look(): Promise<void> {
	try {
		const rows = (await now('runs')).rows as Row[] as Run[];
		const stamp = JSON.stringify(rows.map(r => [r.run, r.state, (r as Row).generation]));
		const isNew = stampOf(rows) !== stampOf(runs) || !shown;
		runs = rows;
		if (forgetUnless(stamp)) losses = {};
		if (isNew) await show();
	} catch (error) {
		app.say(error instanceof Error ? error.message : String(error));
	}
	setTimeout(() => void look(), POLL_MS);
}

async function start(): Promise<void> {
	themeInit();
	drawFrame();
	const questions = (await now('questions')).rows;
	knows = new Map(questions.map(q => [q.question, new Set<string>(q.options.map((o: Row) => o.name))]));
	addEventListener('hashchange', onHash);
	addEventListener('keydown', onKey);
	addEventListener('pointerdown', e => closeMenus(e.target as Node));
	addEventListener('themechange', () => void show());
	link = read(location.hash);
	if (!views.some(v => v.id === link.view)) link = { view: views[0]!.id, params: link.params };
	await look();
}

void start().catch(error => failed(frame.main, error));
