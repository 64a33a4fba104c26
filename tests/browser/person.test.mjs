// Keys, accessibility, hostile names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { hostileNames, TRICKS } from './hostile.mjs';
import { asked, rows } from './stage.mjs';

const VIEWS = ['answer', 'requests', 'request', 'paths', 'objects', 'diff', 'variance', 'live'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function everything_is_reached_by_keys(scene) {
	await scene.open('#/answer');
	for (const [i, view] of VIEWS.entries()) {
		await scene.page.keyboard.press(String(i + 1));
		await scene.settled();
		assert.ok(scene.hash.startsWith(`#/${view}`), `${i + 1} opens ${view}: ${scene.hash}`);
	}
	await scene.page.keyboard.press('?');
	assert.ok(await scene.page.locator('dialog[open]').isVisible());
	await scene.page.keyboard.press('Escape');
	await scene.page.keyboard.press('2');
	await scene.settled();
	await scene.page.keyboard.press('j');
	await scene.page.keyboard.press('j');
	await scene.page.keyboard.press('Enter');
	await scene.settled();
	assert.match(scene.hash, /^#\/request\?/);
	await scene.page.keyboard.press('2');
	await scene.settled();
	await scene.page.keyboard.press('/');
	assert.equal(await scene.page.evaluate(() => document.activeElement.getAttribute('type')), 'search');
}

export async function the_theme_is_remembered(scene) {
	await scene.open('#/answer');
	const before = await scene.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	await scene.page.keyboard.press('t');
	await scene.settled();
	const after = await scene.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	assert.notEqual(before, after);
	await scene.page.reload();
	await scene.settled();
	assert.equal(await scene.page.evaluate(() => getComputedStyle(document.body).backgroundColor), after);
}

export async function everybody_can_use_every_view(scene) {
	for (const scheme of ['light', 'dark']) {
		await scene.page.emulateMedia({ colorScheme: scheme });
		for (const view of VIEWS) {
			await scene.open(`#/${view}?run=1&against=2`);
			await scene.page.evaluate(axe);
			const { violations } = await scene.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
			assert.deepEqual(
				violations.map(
					v =>
						`${v.id}: ${v.nodes
							.slice(0, 3)
							.map(n => n.target.join(' '))
							.join(', ')}`,
				),
				[],
				`${view}, ${scheme}`,
			);
		}
	}
}

/** Nothing of a name became an element, ran, or turns the direction of what stands beside it: in texts, tooltips and labels. */
async function isTame(scene, where) {
	assert.equal(await scene.page.evaluate(() => window.pwned), undefined, where);
	assert.equal(await scene.page.locator('main script, main iframe, main img, main base, main meta, main style').count(), 0, where);
	const turning = await scene.page.evaluate(() =>
		[...document.body.querySelectorAll('*')]
			.flatMap(e =>
				[...e.childNodes]
					.filter(n => n.nodeType === 3)
					.map(n => n.data)
					.concat(['title', 'aria-label'].map(a => e.getAttribute(a) ?? '')),
			)
			.filter(t => /[\u202a-\u202e\u2066-\u2069\u0000]/.test(t)),
	);
	assert.deepEqual(turning, [], `${where}: nothing turns the direction`);
}

export async function hostile_names_are_text(scene) {
	for (const view of VIEWS) {
		await scene.open(`#/${view}?run=3&against=3`);
		await isTame(scene, view);
		await scene.screen(`hostile-${view}`);
	}
	await scene.open('#/requests?run=3');
	const shown = await scene.text('main');
	assert.ok(shown.includes('<script>window.pwned=1</script>') || shown.includes('<img src=x'), 'markup is shown as it is written');
	assert.equal(hostileNames.length, 100);
}

/** As the page writes what is not seen (core/dom.ts). */
const shown = text =>
	text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, c =>
		c < ' ' ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);

export async function every_hostile_name_is_shown_of_logs_and_of_traces(scene) {
	await scene.open('#/requests?run=3');
	const types = new Set(await scene.texts('.facet:first-child .name'));
	// what is very long is cut off, and of operations numbers may be masked
	for (const name of hostileNames)
		assert.ok(
			[...types].some(t => t.startsWith(`${shown(name)}: `.slice(0, 90))),
			`type of a trace: ${name.slice(0, 60)}`,
		);
	const byKey = new Map(rows(asked('requests', scene.runs.hostile)).map(r => [r.key, r.id]));
	for (const [i, name] of TRICKS.entries()) {
		await scene.open(`#/request?run=3&request=${byKey.get(`r${i}`)}`);
		await scene.page.locator('.timeline .row').first().click();
		await scene.settled();
		// lines are cut off, and what is not seen is told as what it is
		const lines = (await scene.texts('.detail .lines code')).join('\n');
		assert.ok(
			lines.includes(shown(name).slice(0, 40)),
			`line of a log: ${JSON.stringify(name.slice(0, 60))} in ${JSON.stringify(lines.slice(0, 300))}`,
		);
		await isTame(scene, `line ${i}`);
	}
}

/** A cell that a spreadsheet would reckon. */
const FORMULA = /(?:^|[\n,]"?)[=+@\t\r]|(?:^|[\n,]"?)-(?!\d+(?:\.\d+)?(?:e[+-]?\d+)?"?(?:,|\n|$))/;

async function savedIsTame(scene, name, path) {
	if (name.endsWith('.png')) return;
	if (name.endsWith('.csv')) {
		assert.doesNotMatch(
			readFileSync(path, 'utf8').replace(/"[^"]*(?:""[^"]*)*"/g, cell => cell.replaceAll(/[\n,]/g, ' ')),
			FORMULA,
			name,
		);
		return;
	}
	const page = await scene.stage.browser.newPage(),
		asks = [];
	page.on('request', r => {
		if (!/^(file|data):/.test(r.url())) asks.push(r.url());
	});
	await page.goto(`file://${path}`);
	await page.waitForTimeout(100);
	const found = await page.evaluate(() => ({
		pwned: window.pwned,
		bad: [
			...document.querySelectorAll(
				'script, iframe, base, object, embed, foreignObject, parsererror, img:not([src^="data:"]), meta[http-equiv=refresh]',
			),
		].map(e => e.outerHTML.slice(0, 100)),
		handlers: [...document.querySelectorAll('*')].flatMap(e =>
			[...e.attributes].filter(a => /^on|^javascript:/i.test(a.name + a.value)).map(a => a.name),
		),
	}));
	await page.close();
	assert.deepEqual([found.pwned, found.bad, found.handlers, asks], [undefined, [], [], []], name);
}

export async function what_is_saved_of_hostile_names_is_text_too(scene) {
	let saved = 0;
	for (const view of VIEWS) {
		await scene.open(`#/${view}?run=3&against=3${view === 'diff' ? '&min=1000000' : ''}`);
		await scene.page.locator('.exports > summary').click();
		const nr = await scene.page.locator('.menu button').count();
		for (let i = 0; i < nr; i++) {
			const [download] = await Promise.all([scene.page.waitForEvent('download'), scene.page.locator('.menu button').nth(i).click()]);
			const path = join(scene.stage.work, 'screens', `hostile-${view}-${download.suggestedFilename()}`);
			await download.saveAs(path);
			await savedIsTame(scene, download.suggestedFilename(), path);
			saved++;
		}
	}
	assert.ok(saved >= 15, `${saved} files`);
	const table = await (await fetch(`${scene.url}api/export?format=csv&run=3`)).text();
	assert.doesNotMatch(
		table.replaceAll('\r\n', '\n').replace(/"[^"]*(?:""[^"]*)*"/g, cell => cell.replaceAll(/[\n,]/g, ' ')),
		FORMULA,
		'the table of the server',
	);
}

export async function hostile_objects_threads_and_files_are_text(scene) {
	const logged = rows(asked('requests', scene.runs.hostile)).filter(r => r.events > 1);
	assert.ok(logged.length > 10);
	for (const { id } of [logged[0], logged.at(-1)]) {
		await scene.open(`#/request?run=3&request=${id}`);
		await scene.page.locator('.timeline .row').nth(1).click();
		await scene.settled();
		await isTame(scene, `request ${id}`);
	}
	await scene.open('#/objects?run=3');
	assert.ok((await scene.page.locator('.typesgraph .box').count()) > 1);
	for (const nr of [0, 1]) {
		await scene.page.locator('.typesgraph .box').nth(nr).click();
		await scene.settled();
		await scene.page.locator('.objscroll').focus();
		await scene.page.keyboard.press('j');
		await scene.settled();
		await isTame(scene, `objects ${nr}`);
	}
	await scene.screen('hostile-one-object');
	await scene.page.locator('.losses summary').click();
	await isTame(scene, 'losses');
}
