// The server under real conditions: TLS and tokens, inputs that are read while one looks, runs that change or vanish, a person who ends it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Server, asked, rows } from './stage.mjs';

const CULPRIT = process.env.CULPRIT,
	ROOT = process.env.ROOT;

/** An address of this machine that is not loopback; loopback where it has none. */
const ownAddress =
	Object.values(networkInterfaces())
		.flat()
		.find(a => a.family === 'IPv4' && !a.internal)?.address ?? '127.0.0.1';

function certificate(work) {
	const cert = join(work, 'runs', 'cert.pem'),
		key = join(work, 'runs', 'key.pem');
	if (!existsSync(key))
		execFileSync(
			'openssl',
			[
				'req',
				'-x509',
				'-newkey',
				'ec',
				'-pkeyopt',
				'ec_paramgen_curve:prime256v1',
				'-nodes',
				'-days',
				'3650',
				'-subj',
				'/CN=culprit.test',
				'-keyout',
				key,
				'-out',
				cert,
			],
			{ stdio: 'ignore' },
		);
	return { cert, key };
}

function secure(url, headers = {}) {
	return new Promise((done, fail) => {
		get(url, { rejectUnauthorized: false, headers: { 'accept-encoding': 'gzip', ...headers } }, res => {
			res.resume();
			res.on('end', () => done(res));
		}).on('error', fail);
	});
}

const refusal = (...args) => {
	const got = spawnSync(CULPRIT, ['serve', '--for', '5s', ...args], { encoding: 'utf8' });
	assert.equal(got.status, 2, args.join(' '));
	return got.stderr;
};

export async function others_need_tls_and_the_token(scene) {
	const { cert, key } = certificate(scene.stage.work);
	if (ownAddress !== '127.0.0.1') assert.match(refusal('--listen', `${ownAddress}:0`, scene.runs.hdfs), /others can reach .*--tls-cert/);
	const server = await Server.start(['--listen', `${ownAddress}:0`, '--tls-cert', cert, '--tls-key', key, scene.runs.hdfs]);
	const { origin, searchParams } = new URL(server.address),
		token = searchParams.get('token');
	try {
		assert.match(server.address, /^https:/);
		await assert.rejects(fetch(origin.replace('https:', 'http:')), 'without TLS nothing is answered');
		assert.equal((await secure(`${origin}/`)).statusCode, 401);
		assert.equal((await secure(`${origin}/?token=${token.replace(/.$/, 'x')}`)).statusCode, 401);
		assert.equal((await secure(`${origin}/api/runs?token=${token}`)).statusCode, 401, 'the token opens the page only');
		const led = await secure(server.address);
		assert.equal(led.statusCode, 303);
		assert.match(led.headers['strict-transport-security'], /max-age=\d+/);
		const [cookie] = led.headers['set-cookie'];
		for (const part of ['HttpOnly', 'Secure', 'SameSite=Lax']) assert.ok(cookie.includes(part), part);
		assert.equal((await secure(`${origin}/api/runs`, { cookie: cookie.split(';')[0] })).statusCode, 200);
		assert.equal((await secure(`${origin}/api/runs`, { authorization: `Bearer ${token}` })).statusCode, 200);
		await asAPerson(scene, server.address, origin);
	} finally {
		await server.close();
	}
}

/** The link that was printed, then one that somebody sent: from a page of another site. */
async function asAPerson(scene, link, origin) {
	const context = await scene.stage.browser.newContext({ ignoreHTTPSErrors: true });
	const page = await context.newPage();
	await page.goto(link);
	await page.locator('.finding').first().waitFor();
	assert.equal(page.url().includes('token'), false, 'the token does not stay in the address');
	await page.goto(scene.url.replace('127.0.0.1', 'localhost'));
	await page.evaluate(to => {
		location.href = to;
	}, `${origin}/#/requests`);
	await page.locator('.view.requests').waitFor();
	await context.close();
}

export async function bad_certificates_and_tokens_are_told(scene) {
	const { cert, key } = certificate(scene.stage.work),
		bad = join(scene.stage.work, 'runs', 'bad.pem'),
		other = join(scene.stage.work, 'runs', 'other.pem');
	writeFileSync(bad, readFileSync(cert, 'utf8').slice(0, 300));
	assert.match(refusal('--tls-cert', key, '--tls-key', key), /key\.pem' holds no CERTIFICATE/);
	assert.match(refusal('--tls-cert', cert, '--tls-key', cert), /cert\.pem' holds no PRIVATE KEY/);
	execFileSync('openssl', ['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', other], { stdio: 'ignore' });
	assert.match(refusal('--tls-cert', bad, '--tls-key', key), /bad\.pem' is cut off/);
	assert.match(refusal('--tls-cert', cert, '--tls-key', other), /key is that of another certificate/);
	assert.match(refusal('--tls-cert', cert), /both a certificate and its key/);
	assert.match(refusal('--tls-cert', `${cert}.none`, '--tls-key', key), /cannot read/);
	assert.match(refusal('--token', 'short'), /a token is 12 to 64/);
	assert.match(refusal('--listen', '127.0.0.1:99999'), /HOST:PORT/);
	assert.match(refusal(`${cert}.none`), /cannot read/);
}

export async function any_loopback_address_is_this_machine(scene) {
	const server = await Server.start(['--listen', '127.0.0.2:0', scene.runs.hdfs]);
	await scene.open('#/answer', server.address);
	assert.ok((await scene.page.locator('.finding').count()) > 0);
	await scene.leave(server);
}

/** A server that reads from its standard input, which stays open; all it leaves behind would be in folder. */
async function reading() {
	const folder = mkdtempSync(join(tmpdir(), 'culprit-browser-'));
	const server = await Server.start(['-'], { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, TMPDIR: folder } });
	return { server, folder, left: () => readdirSync(folder), done: () => rmSync(folder, { recursive: true }) };
}

const sampleLog = () => gunzipSync(readFileSync(join(ROOT, 'samples/hdfs/nn.log.gz')));

export async function logs_are_read_while_one_looks(scene) {
	const { server, left, done } = await reading();
	const log = sampleLog();
	server.process.stdin.write(log.subarray(0, log.length / 2));
	await scene.page.goto(server.address);
	await scene.page.locator('.empty.pending').waitFor();
	assert.match(await scene.text('.empty'), /is being analyzed[^]*reading/);
	assert.equal(left().length, 1);
	await scene.screen('pending');
	server.process.stdin.end(log.subarray(log.length / 2));
	await scene.page.locator('.view.answer').waitFor();
	await scene.settled();
	assert.ok((await scene.page.locator('.finding').count()) > 0, 'the answer comes without a reload');
	assert.equal(await server.close('SIGINT'), 0);
	assert.deepEqual(left(), []);
	done();
}

export async function whoever_ends_it_does_not_wait(scene) {
	const { server, left, done } = await reading();
	server.process.stdin.on('error', () => {}); // it is ended while we write
	// there is always more to read: who waited for the end of it would wait for ever
	const log = sampleLog(),
		feed = () => {
			while (server.process.stdin.write(log));
			server.process.stdin.once('drain', feed);
		};
	feed();
	await fetch(`${server.address}api/runs`);
	assert.equal(await server.close('SIGINT'), 0);
	assert.deepEqual(left(), []);
	assert.ok(scene);
	done();
}

export async function inputs_that_fail_are_told(scene) {
	const file = join(scene.stage.work, 'runs', 'nothing.log');
	writeFileSync(file, Buffer.alloc(5000, 0));
	const server = await Server.start([file]);
	await scene.page.goto(server.address);
	await scene.page.getByText('This run cannot be shown').waitFor();
	assert.match(await scene.text('.empty'), /nothing\.log|no file|not a log/i);
	await scene.leave(server);
}

export async function runs_that_change_or_vanish_are_shown_so(scene) {
	const folder = join(scene.stage.work, 'runs', 'changing'),
		path = join(folder, 'a.culprit'),
		replace = from => {
			copyFileSync(from, `${path}.new`);
			renameSync(`${path}.new`, path);
		};
	mkdirSync(folder, { recursive: true });
	replace(scene.runs.hdfs);
	const server = await Server.start([path]);
	await scene.open('#/requests?min=1000', server.address);
	const before = await scene.text('.listnote'),
		hash = scene.hash;
	replace(scene.runs.later);
	await scene.page.waitForFunction(was => document.querySelector('.listnote') && document.querySelector('.listnote').textContent !== was, before);
	assert.equal(scene.hash, hash, 'the selection stays');
	rmSync(path);
	await scene.page.getByText('was removed').waitFor();
	replace(scene.runs.hdfs);
	await scene.page.waitForFunction(was => document.querySelector('.listnote')?.textContent === was, before);
	assert.equal(scene.hash, hash);
	await server.close();
	await scene.page.getByText('Is culprit serve still running?').waitFor();
	scene.complaints.length = 0; // the browser tells of the run that was gone, and of the server
}

export async function rounds_of_a_program_that_runs_come_in_by_themselves(scene) {
	const folder = join(scene.stage.work, 'runs', 'rounds'),
		path = join(folder, 'run.culprit'),
		show = from => {
			copyFileSync(from, `${path}.new`);
			renameSync(`${path}.new`, path);
		},
		sentence = () => scene.text('.view.variance .sentence');
	mkdirSync(folder, { recursive: true });
	show(scene.runs.hdfs);
	const server = await Server.start([path]);
	await scene.open('#/variance', server.address);
	const first = await sentence();
	assert.equal(first, rows(asked('variance', scene.runs.hdfs)).find(r => r.section === 'summary').text);
	// culprit variance writes a run after each round, in place of the one before
	show(scene.runs.later);
	await scene.page.waitForFunction(was => document.querySelector('.view.variance .sentence')?.textContent !== was, first);
	await scene.settled();
	assert.equal(await sentence(), rows(asked('variance', scene.runs.later)).find(r => r.section === 'summary').text);
	await scene.leave(server);
}

export async function runs_of_the_same_name_are_told_apart(scene) {
	const server = await Server.start([scene.runs.hdfs, scene.runs.hdfs]);
	await scene.open('#/answer', server.address);
	const names = await scene.texts('.runs label:first-child option');
	assert.equal(new Set(names).size, 2, names.join(', '));
	await scene.leave(server);
}

export async function names_of_runs_are_text(scene) {
	const path = join(scene.stage.work, 'runs', '<img src=x onerror=window.pwned=1>"\'\u202e.culprit');
	copyFileSync(scene.runs.hostile, path);
	const server = await Server.start([path, path]);
	for (const view of ['answer', 'request', 'diff']) {
		await scene.open(`#/${view}?run=1&against=2&request=1`, server.address);
		assert.equal(await scene.page.evaluate(() => window.pwned), undefined, view);
		assert.equal(await scene.page.locator('header img, main img').count(), 0, view);
		assert.ok(!(await scene.text('body')).includes('\u202e'), 'nothing turns the direction');
	}
	assert.ok((await scene.text('header')).includes('<img src=x'), 'the name is shown as it is');
	await scene.leave(server);
}

export async function the_first_paint_is_soon(scene) {
	await scene.open('#/answer');
	const [paint, bytes] = await scene.page.evaluate(() => [
		performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
		performance
			.getEntriesByType('resource')
			.concat(performance.getEntriesByType('navigation'))
			.filter(e => !e.name.includes('/api/'))
			.reduce((n, e) => n + e.encodedBodySize, 0),
	]);
	console.log(`first contentful paint after ${Math.round(paint)} ms; the page is ${bytes} bytes`);
	assert.ok(paint > 0 && bytes > 10_000);
}
