// Takes things out of the page: tables as CSV, drawings as SVG and PNG, a view as one HTML file.
import type { Export } from './view';

export function csv(columns: string[], rows: unknown[][]): Blob {
	const cell = (v: unknown): string => {
		const text = v === null || v === undefined ? '' : String(v);
		// a name from a log must not become a formula in a spreadsheet
		const safe = typeof v === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
		return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
	};
	return new Blob([[columns, ...rows].map(r => r.map(cell).join(',')).join('\n') + '\n'], { type: 'text/csv' });
}

export const canvasPng = (canvas: HTMLCanvasElement): Promise<Blob> =>
	new Promise((done, fail) => canvas.toBlob(b => (b ? done(b) : fail(new Error('the picture cannot be made'))), 'image/png'));

function styles(): string {
	return [...document.styleSheets]
		.flatMap(sheet => [...sheet.cssRules])
		.map(rule => rule.cssText)
		.join('\n');
}

/** The drawing with its styles, so that it looks the same alone. */
export function svg(el: SVGSVGElement): Blob {
	const copy = el.cloneNode(true) as SVGSVGElement;
	const box = el.getBoundingClientRect();
	copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
	copy.setAttribute('width', String(box.width));
	copy.setAttribute('height', String(box.height));
	if (document.documentElement.dataset.theme) copy.dataset.theme = document.documentElement.dataset.theme;
	// as text: the page itself is not allowed to make styles
	return new Blob(
		[new XMLSerializer().serializeToString(copy).replace('>', `><style>${styles().replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</style>`)],
		{ type: 'image/svg+xml' },
	);
}

/** What is seen now as one file without script: canvases become pictures. */
export function snapshot(root: HTMLElement, title: string): Blob {
	const copy = root.cloneNode(true) as HTMLElement;
	const drawn = [...root.querySelectorAll('canvas')];
	for (const [i, canvas] of [...copy.querySelectorAll('canvas')].entries()) {
		const img = document.createElement('img');
		img.src = drawn[i]!.toDataURL();
		img.alt = canvas.getAttribute('aria-label') ?? '';
		img.setAttribute('width', String(drawn[i]!.clientWidth));
		canvas.replaceWith(img);
	}
	const theme = document.documentElement.dataset.theme,
		text = document.createElement('title');
	text.textContent = title;
	return new Blob(
		[
			`<!doctype html>\n<html lang="en"${theme ? ` data-theme="${theme}"` : ''}>\n<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">${text.outerHTML}<style>${styles()}</style></head>\n<body><main>${copy.outerHTML}</main></body>\n</html>\n`,
		],
		{ type: 'text/html' },
	);
}

export function save(name: string, blob: Blob): void {
	const a = document.createElement('a');
	a.href = URL.createObjectURL(blob);
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

export async function saveExport(e: Export): Promise<void> {
	save(e.name, await e.make());
}
