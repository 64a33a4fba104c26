// Where one is: the view, the runs, the selection. All of it stands in the address, so that a link is a finding that one can send.

export interface Link {
	view: string;
	/** What is selected, by name: run, against and then (what it is compared with), type, node, from, until, min, max; and what the view adds for itself. */
	params: Record<string, string>;
}

/** What follows from view to view; everything else belongs to the one view. */
export const SELECTION = ['run', 'against', 'then', 'level', 'type', 'node', 'from', 'until', 'min', 'max'] as const;

export function read(hash: string): Link {
	const at = hash.indexOf('?');
	const path = at < 0 ? hash : hash.slice(0, at);
	const params: Record<string, string> = {};
	if (at >= 0) for (const [name, value] of new URLSearchParams(hash.slice(at + 1))) params[name] = value;
	return { view: path.replace(/^#?\/?/, ''), params };
}

export function write(link: Link): string {
	const params = new URLSearchParams(Object.entries(link.params).filter(([, v]) => v !== ''));
	params.sort();
	const text = params.toString();
	return `#/${link.view}${text ? `?${text}` : ''}`;
}

/** The link with some parameters changed; an empty text takes one away. */
export function changed(link: Link, params: Record<string, string>): Link {
	return { view: link.view, params: { ...link.params, ...params } };
}

/** The link to another view with the same selection. */
export function elsewhere(link: Link, view: string, params: Record<string, string> = {}): Link {
	const kept: Record<string, string> = {};
	for (const name of SELECTION) if (link.params[name] !== undefined) kept[name] = link.params[name]!;
	return { view, params: { ...kept, ...params } };
}
