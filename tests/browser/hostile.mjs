// A log in which names try to be more than names: markup, script, ten thousand characters, other directions, control characters.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const TRICKS = [
	'<script>window.pwned=1</script>',
	'<img src=x onerror=window.pwned=1>',
	'"><svg onload=window.pwned=1>',
	"'-window.pwned=1-'",
	'{{constructor.constructor("window.pwned=1")()}}',
	'javascript:window.pwned=1',
	'</title><script>window.pwned=1</script>',
	'<iframe src="javascript:parent.pwned=1">',
	'&lt;b&gt;&amp;',
	'<!-- ',
	']]>',
	'\\u003cscript\\u003e',
	'%3Cscript%3E',
	'${window.pwned=1}',
	'`${window.pwned=1}`',
	'\u202etxt.exe',
	'\u2066\u2067\u2068',
	'مرحبا بالعالم',
	'日本語の名前',
	'\u0000nul\u0000',
	'\u0007bell\u001b[31mred',
	'a\u0301\u0302\u0303',
	'\ufeffbom',
	'\ud83d\udca3',
	'=1+1',
	'+cmd|calc',
	'@SUM(1)',
	'-2+3',
	'x'.repeat(10_000),
	'<'.repeat(500),
	'<a href="//evil.example">x</a>',
	'<style>*{display:none}</style>',
	'<base href="//evil.example">',
	'<meta http-equiv=refresh content=0>',
	'on=click',
	'" autofocus onfocus=window.pwned=1 x="',
];

export const hostileNames = Array.from({ length: 100 }, (_, i) => TRICKS[i % TRICKS.length] + (i >= TRICKS.length ? ` #${i}` : ''));

/** Objects (users, their sessions, jobs of those) and threads whose names do not behave. */
function oddObjects(at) {
	const odd = ['&lt;b&gt;', '\u202e', "'onload=window.pwned=1'", '<img-src=x-onerror=window.pwned=1>', '\u2066', 'é日'],
		lines = [];
	const say = (level, thread, text) => lines.push(`${at(lines.length)} ${level} [${thread}] shop: ${text}`);
	for (let i = 0; i < 60; i++) {
		const tail = odd[i % odd.length],
			session = `session=ses_${1000 + i}${tail}`,
			user = `user=usr_${i % odd.length}${tail}`;
		say('INFO', `pool-1-thread-${i % 4}${tail}`, `${user} opened ${session}`);
		for (let k = 0; k < 3; k++) {
			say('INFO', `t${k}${tail}`, `${session} begins job=job_${i}_${k}${tail}`);
			say('ERROR', `t${k}${tail}`, `${session} ended job=job_${i}_${k}${tail} in ${3 * k} ms`);
		}
		say('INFO', 'x', `${user} closed ${session}`);
	}
	return lines.join('\n') + '\n';
}

/** A log that was written anew is another one: its lines would not be read back. */
function write(path, text) {
	if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

/** As logs and as a trace; returns the files. */
export function writeHostile(folder) {
	const log = join(folder, '<img src=x onerror=window.pwned=1>\u202e&quot;.log'),
		trace = join(folder, 'hostile.json'),
		objects = join(folder, 'hostile objects.log');
	const at = i => new Date(1_790_000_000_000 + 50 * i).toISOString().replace('T', ' ').replace('Z', '');
	write(
		log,
		hostileNames
			.map(
				(name, i) =>
					`${at(3 * i)} INFO [worker ${name.replaceAll('\n', ' ')}] shop: begin request_id=r${i} ${name}\n${at(3 * i + 1)} ERROR [worker] shop: end request_id=r${i} ${name}`,
			)
			.join('\n') + '\n',
	);
	write(objects, oddObjects(at));
	write(
		trace,
		JSON.stringify({
			data: hostileNames.map((name, i) => ({
				traceID: (0x10000 + i).toString(16).padStart(16, '0'),
				processes: { p1: { serviceName: name, tags: [] } },
				spans: [
					{
						traceID: (0x10000 + i).toString(16).padStart(16, '0'),
						spanID: (0x100 + i).toString(16).padStart(16, '0'),
						operationName: name,
						references: [],
						startTime: 1_790_000_000_000_000 + 100_000 * i,
						duration: 1000 + 37 * i,
						processID: 'p1',
						tags: [{ key: name, type: 'string', value: name }],
						logs: [],
					},
				],
			})),
		}),
	);
	return [log, objects, trace];
}
