// Two runs, or two selections: what changed, and how much of the difference each hop explains.
import type { Row } from '../../core/api';
import { h, put, s } from '../../core/dom';
import { svg } from '../../core/exports';
import { area, duration, share } from '../../core/format';
import { elsewhere } from '../../core/link';
import { isSame, pinned, selected, toldApart, written } from '../../core/selection';
import { empty } from '../../core/state';
import { type Column, Table } from '../../core/table';
import { isNarrow } from '../../core/theme';
import type { App, Opened, Run, View } from '../../core/view';

const BY = ['hop', 'node', 'type', 'factor'];
const TOP = 8;

/** Rows by factor are parts of a variance, in squares of time; all others are times. */
const amount = (r: Row, v: number): string => (r.what === 'factor' ? area(v) : duration(v));

/** Names left of the bars; where there is less room, above them. */
const BESIDE = { W: 1100, MID: 700, BAR: 260, ROW: 30, DOWN: 0, LETTERS: 46 },
	ABOVE = { W: 370, MID: 185, BAR: 80, ROW: 46, DOWN: 18, LETTERS: 52 };

/** To the right what became slower, to the left what became faster. */
function tornado(rows: Row[]): SVGElement {
	const top = rows.slice(0, TOP),
		max = Math.max(1, ...top.map(r => Math.abs(r.delta as number))),
		{ W, MID, BAR, ROW, DOWN, LETTERS } = isNarrow() ? ABOVE : BESIDE;
	return s(
		'svg',
		{
			class: 'tornado',
			viewBox: `0 0 ${W} ${ROW * top.length + 8}`,
			width: W,
			height: ROW * top.length + 8,
			role: 'img',
			'aria-label': 'What changed, the largest share of the difference first',
		},
		...(DOWN ? [] : [s('line', { x1: MID, x2: MID, y1: 0, y2: ROW * top.length + 8, class: 'axis' })]),
		...top.flatMap((r, i) => {
			const width = Math.max(1, (BAR * Math.abs(r.delta)) / max),
				isSlower = r.delta >= 0,
				y = 4 + i * ROW,
				down = y + DOWN;
			const name = `${r.node ? `${r.node}: ` : ''}${r.name ?? r.type ?? r.path ?? ''}`;
			return [
				s(
					'text',
					{ x: 0, y: y + 16, class: 'title' },
					name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name,
					s('title', {}, r.path ?? name),
				),
				DOWN ? s('line', { x1: MID, x2: MID, y1: down, y2: y + ROW, class: 'axis' }) : null,
				s('rect', { x: isSlower ? MID : MID - width, y: down + 3, width, height: 18, class: isSlower ? 'crit' : 'fill' }),
				s(
					'text',
					{ x: isSlower ? MID + width + 6 : MID - width - 6, y: down + 16, 'text-anchor': isSlower ? 'start' : 'end', class: 'figure' },
					`${isSlower ? '+' : ''}${amount(r, r.delta)}${typeof r.share === 'number' ? `, ${share(r.share)}` : ''}`,
				),
			];
		}),
	);
}

/** A step that varies more or less than before, or two that do so together. */
function wordsOfFactor(r: Row): string {
	const [one, other] = r.factor as string[];
	return `${other ? `${one} and ${other} together` : one} ${r.delta > 0 ? 'adds' : 'takes'} ${area(Math.abs(r.delta))} ${r.delta > 0 ? 'to' : 'from'} the variance of ${r.type} (${area(r.before)} before, ${area(r.after)} after): ${share(r.share)} of the difference.`;
}

function words(r: Row | undefined): string {
	if (!r || !r.delta) return 'Nothing changed beyond chance.';
	if (r.what === 'factor') return wordsOfFactor(r);
	return `${r.node ? `${r.node} ` : ''}${r.name ? `in "${r.name}" ` : ''}is ${duration(Math.abs(r.delta))} ${r.delta > 0 ? 'slower' : 'faster'} (${duration(r.before)} before, ${duration(r.after)} after)${typeof r.share === 'number' ? `: ${r.share >= 0.995 ? 'all' : share(r.share)} of the difference` : ''}.`;
}

/** A number of a row, or a dash where it has none. */
function figure(key: string, title: string, text: (r: Row, v: number) => string, hint?: string, width?: string): Column<Row> {
	return {
		key,
		title,
		value: r => r[key] ?? null,
		cell: r => (typeof r[key] === 'number' ? text(r, r[key]) : '–'),
		isNumber: true,
		...(hint ? { hint } : {}),
		...(width ? { width } : {}),
	};
}

const ofTimes: Column<Row>[] = [
	{ key: 'what', title: 'What', value: r => r.what, width: '6.43rem' },
	{ key: 'type', title: 'Type', value: r => r.type ?? null, width: 'minmax(0,2fr)' },
	{ key: 'node', title: 'Node', value: r => r.node ?? null },
	{ key: 'name', title: 'Step', value: r => r.name ?? r.path ?? null, width: 'minmax(0,3fr)' },
	figure('before', 'Before', amount),
	figure('after', 'After', amount),
	figure('delta', 'Change', amount),
	figure('share', 'Explains', (_, v) => share(v)),
];

const ofFactors: Column<Row>[] = [
	{ key: 'type', title: 'Type', value: r => r.type ?? null, width: 'minmax(0,2fr)' },
	{ key: 'name', title: 'Factor', value: r => r.name ?? null, width: 'minmax(0,3fr)' },
	figure('share_before', 'Share before', (_, v) => share(v), 'of the variance before', '6.4rem'),
	figure('share_after', 'Share after', (_, v) => share(v), 'of the variance after', '6.4rem'),
	figure('before', 'Before', amount, 'its part of the variance, a square of time'),
	figure('after', 'After', amount, 'its part of the variance, a square of time'),
	figure('delta', 'Change', amount),
	figure('share', 'Explains', (_, v) => share(v), 'of the difference of the variances; all add up to 100 %'),
];

export const diff: View = {
	id: 'diff',
	title: 'Diff',
	isOfRequests: true,
	letter: 'd',
	about: 'two runs or two selections: what changed',
	lacks(runs: Run[], link) {
		if (link.params.against || link.params.then) return null;
		const here =
			'Two selections of one run: select the first (brush a time or a latency, pick a type or a node), press "Compare with this" above, then select the second.';
		return runs.length > 1
			? `Two runs: pick the one to compare with: Against, above. ${here}`
			: `${here} Two runs: culprit serve before.culprit after.culprit`;
	},
	open(root: HTMLElement, app: App): Opened {
		const sides = h('p', { class: 'quiet sides' }),
			sentence = h('p', { class: 'sentence' }),
			drawing = h('div', { class: 'tornados' }),
			picker = h('div', { class: 'picker', role: 'group', 'aria-label': 'Split the difference' });
		const table = new Table<Row>({
			label: 'What changed',
			height: '27.14rem',
			sort: { key: 'share', isDown: true },
			columns: ofTimes,
			open: r =>
				app.go(
					r.what === 'factor'
						? elsewhere(app.link, 'variance', { type: r.type, what: r.name })
						: elsewhere(app.link, 'requests', { ...(r.type ? { type: r.type } : {}), ...(r.node ? { node: r.node } : {}) }),
				),
		});
		let shownBy = 'hop';
		put(root, h('div', { class: 'diffhead' }, picker, sides), sentence, drawing, table.el);
		return {
			async show(link, signal) {
				const by = link.params.by ?? 'hop';
				// what is looked at came later: the other one is what it is compared with
				const after = selected(link),
					before = pinned(link) ?? after;
				const { rows } = await app.ask('diff', { ...before, against: after.run, then: written(before) === written(after) ? '' : written(after), by });
				if (signal.aborted) return;
				if (by !== shownBy) table.columns(by === 'factor' ? ofFactors : ofTimes);
				shownBy = by;
				const changes = rows.filter(r => r.what && typeof r.delta === 'number'),
					lacking = rows.filter(r => (r.section === 'selection' || by === 'factor') && r.text).map(r => String(r.text));
				put(
					picker,
					...BY.map(b =>
						h(
							'button',
							{ class: b === by ? 'here' : '', 'aria-pressed': b === by ? 'true' : 'false', click: () => app.select({ by: b }) },
							`by ${b}`,
						),
					),
				);
				put(sides, `before: ${toldApart(before, app.runs, after)} · after: ${toldApart(after, app.runs, before)}`);
				if (isSame(before, after)) {
					put(sentence, 'Both sides are the same selection.');
					put(
						drawing,
						empty(
							'Nothing to compare yet',
							'Select something else now: brush a time or a latency in Requests, or pick a type or a node. The dashed chip above is what it is compared with.',
						),
					);
					table.set([]);
					return;
				}
				put(sentence, changes.length ? words(changes[0]) : (lacking[0] ?? 'Nothing changed beyond chance.'));
				put(
					drawing,
					changes.length ? tornado(changes) : lacking.length ? null : empty('No difference', 'Both are alike in everything that was compared.'),
				);
				table.set(rows.filter(r => r.what));
			},
			key: e => table.key(e),
			exports: () => {
				const drawn = drawing.querySelector('svg');
				return [table.exportCsv('diff'), ...(drawn ? [{ name: 'diff.svg', title: 'Picture as SVG', make: () => svg(drawn) }] : [])];
			},
		};
	},
};
