// What the table can be grouped by: each group is a row, and a click opens what is in it.
import type { Row } from '../../core/api';
import { count, duration } from '../../core/format';
import { elsewhere, type Link } from '../../core/link';
import type { Column } from '../../core/table';

export interface Group {
	title: string;
	/** Asked of requests. */
	params: Record<string, string>;
	columns: Column<Row>[];
	/** Where a row leads to. */
	way(row: Row, link: Link): Link;
	is(row: Row): boolean;
}

const time = (key: string, title = key): Column<Row> => ({
	key,
	title,
	value: r => r[key] ?? null,
	cell: r => (typeof r[key] === 'number' ? duration(r[key]) : '–'),
	isNumber: true,
});
const number = (key: string, title: string): Column<Row> => ({
	key,
	title,
	value: r => r[key] ?? null,
	cell: r => (typeof r[key] === 'number' ? count(r[key]) : '–'),
	isNumber: true,
});

export const groups: Record<string, Group> = {
	type: {
		title: 'by type',
		params: { types: '1' },
		is: r => r.type !== undefined && r.count !== undefined,
		columns: [
			{ key: 'type', title: 'Type', value: r => r.type, width: 'minmax(0,4fr)' },
			number('count', 'Requests'),
			number('errors', 'Errors'),
			time('p50'),
			time('p90'),
			time('p99'),
			time('max'),
		],
		way: (row, link) => ({ view: 'requests', params: { ...link.params, type: row.type, group: '', offset: '' } }),
	},
	sequence: {
		title: 'by log sequence',
		params: { sequences: '1', limit: '1000' },
		is: r => r.sequence !== undefined,
		columns: [
			{ key: 'sequence', title: 'Sequence', value: r => r.sequence, width: '10.71rem' },
			{ key: 'type', title: 'Type', value: r => r.type, width: 'minmax(0,2fr)' },
			number('count', 'Requests'),
			time('mean', 'Mean'),
			{
				key: 'points',
				title: 'Points',
				value: r =>
					(r.points as Row[]).map(p => (p.method ? `${String(p.class).split('.').pop()}.${p.method}:${p.line}` : (p.point ?? p.name))).join(' › '),
				width: 'minmax(0,4fr)',
			},
		],
		way: (row, link) => elsewhere(link, 'request', { request: String(row.request) }),
	},
};
