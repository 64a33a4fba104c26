// Numbers as the command line shows them (src/report/shown.c), so that a person finds the same text in both.

function scaled(v: number, unit: string): string {
	const text = v < 9.995 ? v.toFixed(2) : v < 99.95 ? v.toFixed(1) : v.toFixed(0);
	return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text} ${unit}`;
}

/** Nanoseconds: "41 ms". */
export function duration(ns: number): string {
	const sign = ns < 0 ? '-' : '',
		v = Math.abs(ns);
	if (v < 1e3) return `${sign}${v.toFixed(0)} ns`;
	if (v < 999.5e3) return sign + scaled(v / 1e3, 'us');
	if (v < 999.5e6) return sign + scaled(v / 1e6, 'ms');
	if (v < 119.5e9) return sign + scaled(v / 1e9, 's');
	if (v < 7200e9) return `${sign}${Math.floor(v / 60e9)} min ${two(Math.floor(v / 1e9) % 60)} s`;
	return `${sign}${Math.floor(v / 3600e9)} h ${two(Math.floor(v / 60e9) % 60)} min`;
}

/** Squares of nanoseconds, as variances are: "41 ms²". */
export function area(ns2: number): string {
	const sign = ns2 < 0 ? '-' : '',
		v = Math.abs(ns2);
	// a hundredth of the larger unit is read more easily than thousands of the smaller one
	if (v < 1e4) return `${sign}${scaled(v, 'ns²')}`;
	if (v < 1e10) return `${sign}${scaled(v / 1e6, 'us²')}`;
	if (v < 1e16) return `${sign}${scaled(v / 1e12, 'ms²')}`;
	return `${sign}${scaled(v / 1e18, 's²')}`;
}

export const count = (v: number): string => v.toLocaleString('en-US', { maximumFractionDigits: 0 });

/** What is nearly nothing or nearly all does not read as nothing or all. */
export function share(v: number): string {
	const percent = 100 * v,
		size = Math.abs(percent);
	if (percent > 0 && percent < 0.1) return '<0.1 %';
	if (percent > 99.9 && percent < 100) return '>99.9 %';
	return `${percent.toFixed(size === 0 || (size >= 9.95 && size < 99.5) || size >= 100 ? 0 : 1)} %`;
}

const two = (v: number): string => String(v).padStart(2, '0');

/** A time of day, in the zone of the browser, with as many digits as the unit (ns) tells apart. */
export function clock(ns: number, unit = 1e6): string {
	const d = new Date(ns / 1e6);
	const at = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
	return unit >= 1e9 ? at : `${at}.${String(d.getMilliseconds()).padStart(3, '0')}`;
}

export function date(ns: number): string {
	const d = new Date(ns / 1e6);
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

export const moment = (ns: number): string => `${date(ns)} ${clock(ns)}`;
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
