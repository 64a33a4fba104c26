// The server: the answers of the command line, to whom it should, with the headers that it should.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { asked } from './stage.mjs';

const QUESTIONS = [
	['answer'],
	['slow'],
	['paths', 'fold'],
	['paths', 'graph'],
	['objects'],
	['requests', 'types'],
	['requests', 'over-time'],
	['requests', 'limit=5'],
	['requests', 'slowest=3'],
	['requests', 'request=1'],
	['requests', 'request=1', 'why'],
	['requests', 'request=1', 'critical-path'],
];

/** One request with any headers: fetch would not let us. */
function raw(url, path, options = {}) {
	const { hostname, port } = new URL(url);
	return new Promise((done, fail) => {
		const req = request({ hostname, port, path, method: options.method ?? 'GET', headers: options.headers ?? {} }, res => {
			let body = '';
			res.on('data', d => {
				body += d;
			});
			res.on('end', () => done({ status: res.statusCode, headers: res.headers, body }));
		});
		req.on('error', fail);
		req.end();
	});
}

export async function every_question_is_answered_as_on_the_command_line({ url, runs }) {
	for (const [question, ...options] of QUESTIONS) {
		const got = await (await fetch(`${url}api/${question}?run=1&${options.map(o => (o.includes('=') ? o : `${o}=1`)).join('&')}`)).text();
		const want = asked(question, runs.hdfs, ...options.flatMap(o => (o.includes('=') ? [`--${o.split('=')[0]}`, o.split('=')[1]] : [`--${o}`])));
		assert.equal(got, want, `${question} ${options.join(' ')}`);
		assert.ok(want.length > 20, `${question} says something`);
	}
	const diff = await (await fetch(`${url}api/diff?run=1&against=2`)).text();
	assert.equal(diff, asked('diff', runs.hdfs, runs.later));
}

/** A tool that looks at the server need not unpack, nor read. */
export async function whoever_cannot_unpack_sees_the_page_too({ url }) {
	for (const path of ['/', '/page.js', '/style.css']) {
		const plain = await raw(url, path),
			refused = await raw(url, path, { headers: { 'accept-encoding': 'gzip;q=0, identity' } }),
			head = await raw(url, path, { method: 'HEAD' });
		assert.deepEqual([plain.status, refused.status, head.status], [200, 200, 200], path);
		assert.equal(plain.headers['content-encoding'], undefined);
		assert.ok(plain.body.length > 100 && plain.body === refused.body);
		assert.equal(plain.body, await (await fetch(`${url}${path.slice(1)}`)).text());
		assert.equal(head.body, '');
		assert.equal((await raw(url, path, { headers: { 'if-none-match': plain.headers.etag } })).status, 304);
	}
}

export async function headers_protect_the_page({ url }) {
	for (const path of ['/', '/api/runs', '/page.js', '/nothing']) {
		const { headers } = await raw(url, path, { headers: { 'accept-encoding': 'gzip' } });
		assert.match(headers['content-security-policy'], /require-trusted-types-for 'script'/);
		assert.match(headers['content-security-policy'], /default-src 'none'/);
		assert.doesNotMatch(headers['content-security-policy'], /unsafe/);
		assert.equal(headers['x-content-type-options'], 'nosniff');
		assert.equal(headers['x-frame-options'], 'DENY');
		assert.equal(headers['referrer-policy'], 'no-referrer');
		assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
		assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
		for (const banner of ['server', 'x-powered-by']) assert.equal(headers[banner], undefined, 'nobody learns what serves it');
		assert.equal(headers['access-control-allow-origin'], undefined);
	}
}

export async function strangers_are_refused({ url }) {
	const host = new URL(url).host;
	assert.equal((await raw(url, '/api/runs')).status, 200);
	assert.equal((await raw(url, '/api/runs', { headers: { host: 'evil.example' } })).status, 421);
	assert.equal((await raw(url, '/api/runs', { headers: { host, origin: 'http://evil.example' } })).status, 403);
	assert.equal((await raw(url, '/api/runs', { headers: { host, 'sec-fetch-site': 'cross-site' } })).status, 403);
	assert.equal((await raw(url, '/api/runs', { method: 'POST' })).status, 405);
	assert.equal((await raw(url, '/api/runs', { method: 'DELETE' })).status, 405);
}

export async function bad_questions_get_a_sentence({ url }) {
	const cases = [
		['api/nothing', 404, /no such question/],
		['api/requests?run=9', 404, /no run 9/],
		['api/requests?run=x', 400, /number/],
		['api/requests?frobnicate=1', 400, /takes no 'frobnicate'/],
		['api/requests?request=999999', 404, /no request/],
		['api/requests?from=yesterdayish', 400, /./],
		['api/export?format=word', 400, /format/],
		[`api/${'a'.repeat(300)}`, 414, /too long/],
		[`api/requests?${'x=1&'.repeat(60)}`, 400, /too many/],
		['../../etc/passwd', 404, /no such/],
	];
	for (const [path, status, says] of cases) {
		const got = await raw(url, `/${path}`);
		assert.equal(got.status, status, path);
		assert.match(JSON.parse(got.body).error, says, path);
	}
}

export async function a_run_is_saved_for_other_tools({ url, runs }) {
	for (const format of ['jaeger', 'perfetto', 'otlp', 'chrome', 'csv']) {
		const got = await fetch(`${url}api/export?run=1&format=${format}`);
		assert.equal(got.status, 200);
		assert.match(got.headers.get('content-disposition'), /attachment; filename="culprit-run-1\./);
		assert.ok((await got.arrayBuffer()).byteLength > 1000, format);
	}
	assert.ok(runs.hdfs);
}

export async function the_page_is_small_and_cached({ url }) {
	let bytes = 0;
	for (const path of ['/', '/page.js', '/style.css', '/icon.svg']) {
		const got = await raw(url, path, { headers: { 'accept-encoding': 'gzip' } });
		assert.equal(got.status, 200, path);
		bytes += Number(got.headers['content-length']);
		assert.equal((await raw(url, path, { headers: { 'accept-encoding': 'gzip', 'if-none-match': got.headers.etag } })).status, 304);
	}
	assert.ok(bytes < 300_000, `${bytes} bytes`);
}
