// Builds elements. Text goes in as text and never as markup, so that a name in a log cannot become part of the page.

type Child = Node | string | number | null | undefined | false;
type Attrs = Record<string, string | number | boolean | EventListener | undefined>;

/** Attributes that people read. */
const READ = new Set(['title', 'aria-label', 'placeholder', 'alt']);

function fill(el: Element, attrs: Attrs, children: Child[]): void {
	for (const [name, value] of Object.entries(attrs)) {
		if (typeof value === 'function') el.addEventListener(name, value);
		else if (value !== undefined && value !== false)
			el.setAttribute(name, value === true ? '' : READ.has(name) ? shown(String(value)) : String(value));
	}
	for (const child of children)
		if (child !== null && child !== undefined && child !== false) el.append(child instanceof Node ? child : shown(String(child)));
}

/** An element; an attribute that is a function listens to the event of that name. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attrs: Attrs = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const el = document.createElement(tag);
	fill(el, attrs, children);
	return el;
}

/** The same for SVG. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, attrs: Attrs = {}, ...children: Child[]): SVGElementTagNameMap[K] {
	const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
	fill(el, attrs, children);
	return el;
}

/** Characters that are not seen, or that turn the direction of what follows, are shown as what they are. */
export function shown(text: string): string {
	return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, c =>
		c < ' ' ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
}

/** Replaces what an element holds. */
export function put(el: Element, ...children: Child[]): void {
	el.replaceChildren();
	fill(el, {}, children);
}

/** A table that may be wider than the page: it scrolls by itself, by keys, too. */
export function sideways(label: string, table: HTMLTableElement): HTMLElement {
	return h('div', { class: 'sideways', role: 'region', 'aria-label': label, tabindex: 0 }, table);
}
