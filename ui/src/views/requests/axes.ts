// Where a moment and a latency stand on the picture, and what is written beside them: time is even, latency by its logarithm.
import { clock, date, duration } from '../../core/format';

export interface Range {
	from: number;
	until: number;
	low: number;
	high: number;
}

export interface Area {
	left: number;
	top: number;
	width: number;
	height: number;
}

const told = (all: number[]): { ns: number; text: string }[] => all.map(ns => ({ ns, text: duration(ns) }));
const log = (v: number): number => Math.log10(Math.max(1, v));

export class Axes {
	constructor(
		readonly range: Range,
		readonly area: Area,
	) {}

	x(ns: number): number {
		return this.area.left + (this.area.width * (ns - this.range.from)) / Math.max(1, this.range.until - this.range.from);
	}

	y(ns: number): number {
		const low = log(this.range.low),
			high = Math.max(low + 1e-9, log(this.range.high));
		return this.area.top + this.area.height * (1 - (Math.max(low, log(ns)) - low) / (high - low));
	}

	time(x: number): number {
		return this.range.from + (this.range.until - this.range.from) * Math.min(1, Math.max(0, (x - this.area.left) / this.area.width));
	}

	latency(y: number): number {
		const low = log(this.range.low),
			high = log(this.range.high);
		return 10 ** (low + (high - low) * (1 - Math.min(1, Math.max(0, (y - this.area.top) / this.area.height))));
	}

	/** Round moments: about one for each 110 px. */
	times(): { ns: number; text: string }[] {
		const steps = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 5e9, 1e10, 3e10, 6e10, 3e11, 6e11, 1.8e12, 3.6e12, 1.08e13, 4.32e13, 8.64e13, 6.048e14];
		const want = (this.range.until - this.range.from) / Math.max(2, this.area.width / 110),
			step = steps.find(s => s >= want) ?? 6.048e14;
		const zone = new Date(this.range.from / 1e6).getTimezoneOffset() * 6e10;
		const all: { ns: number; text: string }[] = [];
		for (let at = Math.ceil((this.range.from - zone) / step) * step + zone; at <= this.range.until; at += step)
			all.push({ ns: at, text: step >= 8.64e13 ? date(at) : clock(at, step) });
		return all;
	}

	/** 1, 10, 100 of each unit, and 2 and 5 between them where there is room; even steps where that gives hardly any. */
	latencies(): { ns: number; text: string }[] {
		const { low, high } = this.range,
			all: number[] = [],
			isWide = log(high) - log(low) < 3;
		for (let power = Math.floor(log(low)); power <= Math.ceil(log(high)); power++)
			for (const m of isWide ? [1, 2, 5] : [1]) all.push(m * 10 ** power);
		const seen = (v: number[]): number[] => v.filter(ns => ns >= low && ns <= high);
		if (seen(all).length >= 3) return told(seen(all));
		const unit = 10 ** Math.floor(log((high - low) / 3)),
			step = unit * ([1, 2, 5, 10].find(m => (high - low) / (m * unit) <= 6) ?? 10);
		return told(Array.from({ length: 8 }, (_, i) => (Math.ceil(low / step) + i) * step).filter(ns => ns <= high));
	}
}
