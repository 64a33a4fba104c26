// Queries on running systems, as a person asks them: a real hub, agents that report rows which are known, and the page.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { look, PHONE } from './boxes.mjs';
import { Server } from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const CULPRIT = process.env.CULPRIT;
const AGENT = [join(process.env.BUILD, 'tests/unit/live_agent'), join(dirname(CULPRIT), '../../tests/unit/live_agent')].find(existsSync);
const QUERY = 'Q9: From e In DB.Executed GroupBy e.host, e.procName Select e.host, e.procName, COUNT, SUM(e.took)';

/** It is told to end, and has. */
function ended(one) {
	const over = new Promise(done => {
		one.once('exit', done);
	});
	one.kill();
	return one.exitCode === null && one.signalCode === null ? over : undefined;
}

/** A hub with two agents and a page for it; all of it gone in the end. */
async function withHub(scene, test) {
	const folder = mkdtempSync(join(tmpdir(), 'culprit-live-')),
		endpoint = `ipc://${folder}/hub`,
		began = [];
	const begin = (program, ...args) => {
		const one = spawn(program, args, { stdio: 'ignore' });
		began.push(one);
		return one;
	};
	const hub = () => begin(CULPRIT, 'hub', '--queries', '--listen', endpoint, '--state', join(folder, 'state'));
	let server;
	try {
		const stage = { endpoint, hub, first: hub(), agents: ['h1', 'h2'].map(name => begin(AGENT, endpoint, name, '1200')) };
		server = await Server.open('--hub', endpoint);
		await scene.open('#/live', server.address);
		await scene.page.waitForFunction(() => /2 agents/.test(document.querySelector('.hubstate')?.textContent ?? ''));
		await test(stage);
		await scene.leave(server);
	} finally {
		await server?.close();
		// the hub writes its state once more
		await Promise.all(began.map(ended));
		rmSync(folder, { recursive: true, force: true });
	}
}

async function install(scene, query = QUERY) {
	await scene.page.locator('.editor textarea').fill(query);
	await scene.page.locator('.editor .install').click();
	await scene.page.waitForFunction(() => document.querySelectorAll('.standing .query').length > 0);
	await scene.page.waitForFunction(() => document.querySelectorAll('table.pivot tbody tr').length === 2);
}

/** The numbers of the pivot table, without the line of names. */
async function numbers(scene) {
	const all = await scene.page
		.locator('table.pivot tbody tr, table.pivot tfoot tr')
		.evaluateAll(rows => rows.map(r => [...r.querySelectorAll('td.num > span')].map(td => Number(td.textContent.replaceAll(',', '')))));
	return all;
}

export async function a_query_is_written_with_completion_and_explained(scene) {
	if (!AGENT) return;
	await withHub(scene, async () => {
		const text = scene.page.locator('.editor textarea');
		await text.pressSequentially('From e In DB.Execut');
		await scene.page.waitForSelector('.offers:not([hidden]) li');
		const offers = await scene.texts('.offers li span:first-child');
		assert.ok(offers.includes('DB.Executed'), offers.join());
		await scene.page.keyboard.press('ArrowDown');
		await scene.page.keyboard.press('ArrowUp');
		while ((await scene.text('.offers li.at span')) !== 'DB.Executed') await scene.page.keyboard.press('ArrowDown');
		await scene.page.keyboard.press('Tab');
		await text.pressSequentially('\nSelect e.to');
		await scene.page.waitForFunction(() => document.querySelectorAll('.offers li').length === 1);
		assert.deepEqual(await scene.texts('.offers li span:first-child'), ['took']);
		await scene.page.keyboard.press('Tab');
		assert.equal(await text.inputValue(), 'From e In DB.Executed\nSelect e.took');
		await text.pressSequentially(', COUNT');
		await scene.page.locator('.editor .explain').click();
		await scene.page.waitForSelector('.advices li');
		assert.deepEqual((await scene.texts('.advices pre'))[0].split('\n'), ['OBSERVE took', 'EMIT took, COUNT']);
		await text.fill('From e In DB.Exacuted Select COUNT');
		await scene.page.locator('.editor .explain').click();
		await scene.page.waitForSelector('.wrong');
		assert.match(await scene.text('.wrong'), /line 1, column 11.*DB\.Executed/s);
		// that was a refusal, which the browser tells of
		assert.ok(scene.complaints.splice(0).every(c => c.includes('400')));
	});
}

export async function a_standing_query_is_watched_as_a_pivot_table(scene) {
	if (!AGENT) return;
	await withHub(scene, async stage => {
		await install(scene);
		// each second each agent tells x, y, z once: cells grow together, totals are their sums
		await scene.page.getByLabel('Measure').selectOption('SUM(e.took)');
		await scene.page.waitForFunction(() => Number(document.querySelector('table.pivot tfoot td.num:last-child > span')?.textContent) >= 24);
		const [one, two, all] = await numbers(scene);
		assert.equal(one.length, 4);
		for (const row of [one, two, all]) {
			assert.equal(row[0] + row[1] + row[2], row[3]);
			assert.deepEqual([row[0] * 2, row[0] * 1], [row[1] * 3, row[2] * 3]);
		}
		for (let i = 0; i < 4; i++) assert.equal(one[i] + two[i], all[i]);
		assert.deepEqual(await scene.texts('table.pivot th'), ['e.host', 'z', 'y', 'x', 'all']);
		assert.ok((await scene.page.locator('table.pivot .secondspark path').count()) >= 12);
		await scene.page.waitForSelector('.over canvas');
		const [saved] = await Promise.all([
			scene.page.waitForEvent('download'),
			(async () => {
				await scene.page.locator('.exports > summary').click();
				await scene.page.getByText('Answer as CSV').click();
			})(),
		]);
		assert.match(readFileSync(await saved.path(), 'utf8'), /^e\.host,e\.procName,COUNT,SUM\(e\.took\)\nh1,x,\d+,\d+\n/);
		await scene.page.keyboard.press('Escape');
		await scene.page.getByLabel('Across').selectOption('-');
		await scene.page.waitForFunction(() => document.querySelectorAll('table.pivot tbody tr').length === 6);
		assert.ok(scene.hash.includes('across=-'));
		// the rows that an agent's end leaves are still there, and its silence is told
		stage.agents[1].kill('SIGKILL');
		await scene.page.waitForFunction(() => /silent/.test(document.querySelector('.hubstate').textContent));
		await scene.page.waitForFunction(() =>
			[...document.querySelectorAll('.view.live .table .tr')].some(r => /^h2.*silent since/s.test(r.textContent)),
		);
		assert.match(
			(await scene.texts('.view.live .table .tr')).find(t => t.startsWith('h2')),
			/silent since/,
		);
		for (const [width, height] of [
			[1280, 800],
			[3840, 2160],
		]) {
			await scene.page.setViewportSize({ width, height });
			await scene.page.waitForTimeout(1200);
			await scene.screen(`live-hub-${width}`);
			assert.ok((await scene.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
		}
		await scene.page.evaluate(axe);
		const { violations } = await scene.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
		assert.deepEqual(
			violations.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(', ')}`),
			[],
		);
	});
}

export async function a_query_can_be_written_and_watched_on_a_phone(scene) {
	if (!AGENT) return;
	await scene.page.setViewportSize(PHONE);
	await withHub(scene, async () => {
		await install(scene);
		await scene.page.waitForSelector('.over canvas');
		await look(scene, 'a pivot table');
		await scene.screen('phone-live-hub');
		await scene.page.locator('.editor .explain').click();
		await scene.page.waitForSelector('.advices li');
		await scene.page.getByLabel('Across').selectOption('-');
		await scene.page.waitForFunction(() => document.querySelectorAll('table.pivot tbody tr').length === 6);
		await look(scene, 'a list, and what the query does');
	});
}

export async function a_query_survives_its_hub_and_is_removed(scene) {
	if (!AGENT) return;
	await withHub(scene, async stage => {
		await install(scene);
		stage.first.kill('SIGKILL');
		await scene.page.waitForFunction(() => /does not answer/.test(document.querySelector('.hubstate').textContent));
		stage.hub();
		await scene.page.waitForFunction(() => /^Hub .* 2 agents, 1 standing query/.test(document.querySelector('.hubstate').textContent));
		await scene.page.locator('.standing .remove').click();
		await scene.page.waitForFunction(() => /0 standing queries/.test(document.querySelector('.hubstate').textContent));
		assert.equal(await scene.page.locator('.watched .empty').count(), 1);
	});
}

export async function the_metrics_of_the_hub_are_those_of_the_page(scene) {
	if (!AGENT) return;
	await withHub(scene, async () => {
		await install(scene);
		const got = await scene.page.request.get(new URL('/metrics', scene.page.url()).href),
			text = await got.text();
		assert.match(got.headers()['content-type'], /^text\/plain; version=0\.0\.4/);
		assert.match(text, /^culprit_query_COUNT_total\{query="\d+",e_host="h1",e_procName="x"\} \d+$/m);
		assert.match(text, /^culprit_peer_up\{kind="agent",name="h1",host="h1"\} 1$/m);
	});
}

export async function without_a_hub_the_view_says_how_to_have_one(scene) {
	await scene.open('#/live');
	assert.match(await scene.text('.empty'), /culprit serve --hub/);
}
