// Dark or light: as the system says, unless the person said otherwise.

const KEY = 'culprit-theme';

const system = matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
	known.clear();
	document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? (system.matches ? 'dark' : 'light');
}

function change(): void {
	apply();
	dispatchEvent(new Event('themechange'));
}

export function themeInit(): void {
	apply();
	system.addEventListener('change', change);
}

export function themeToggle(): void {
	localStorage.setItem(KEY, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
	change();
}

const known = new Map<string, string>(); // of the present theme: a canvas asks for every mark

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
	let value = known.get(name);
	if (value === undefined) known.set(name, (value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
	return value;
}

/** Told apart by people who see colours differently (Okabe and Ito), in this order. */
export const palette = (nr: number): string => colour(`series-${nr % 8}`);

/** So many px where the page's text has 14: all sizes grow with it, those that scripts count with, too. */
export const scaled = (px: number): number => (px * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 14;

/** On a phone, or in a window as narrow: as the style sheet says it. */
export const isNarrow = (): boolean => innerWidth <= 800;

/** A canvas of so many px, wiped; a new one is made only where its size changed, since that costs most of a picture. */
export function wiped(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const scale = devicePixelRatio || 1,
		c = canvas.getContext('2d')!,
		[w, h] = [Math.floor(width * scale), Math.floor(height * scale)];
	if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
	c.setTransform(scale, 0, 0, scale, 0, 0);
	c.clearRect(0, 0, width + 1, height + 1);
	return c;
}

/** The font of canvases, of so many px where the page's text has 14. */
export const font = (px: number): string => `${scaled(px)}px system-ui, sans-serif`;
