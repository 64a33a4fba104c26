// Dark or light: as the system says, unless the person said otherwise.

const KEY = 'culprit-theme';

function apply(theme: string | null): void {
	if (theme) document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
}

export const isDark = (): boolean =>
	(document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

export function themeInit(): void {
	apply(localStorage.getItem(KEY));
}

export function themeToggle(): void {
	const next = isDark() ? 'light' : 'dark';
	localStorage.setItem(KEY, next);
	apply(next);
	dispatchEvent(new Event('themechange'));
}

/** A colour of the style sheet, for canvases. */
export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Told apart by people who see colours differently (Okabe and Ito), in this order. */
export const palette = (nr: number): string => colour(`series-${nr % 8}`);

/** The font of canvases, of so many px where the page's text has 14. */
export const font = (px: number): string => `${(px * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 14}px system-ui, sans-serif`;
