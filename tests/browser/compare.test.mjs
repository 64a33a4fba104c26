// Two of a kind: a request beside another, a selection beside another, in every view and in the address.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { asked, rows } from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NONE = { type: '', node: '', from: '', until: '', min: '', max: '' };
/** As the page writes what is compared with. */
const written = parts =>
	Object.entries({ ...NONE, ...parts })
		.map(([k, v]) => `${k}=${v}`)
		.join(',');
const link = (view, params) => `#/${view}?${new URLSearchParams(params)}`;
const number = v => v.toLocaleString('en-US');

/** Two halves of the run in time. */
function halves(scene) {
	const starts = rows(asked('requests', scene.runs.hdfs, '--limit', '100000'))
		.map(r => r.start)
		.sort((a, b) => a - b);
	const mid = String(Math.floor(starts[Math.floor(starts.length / 2)] / 1e6) * 1e6);
	return { early: { until: mid }, late: { from: mid } };
}

export async function a_request_stands_beside_the_median_of_its_type(scene) {
	const [type] = rows(asked('requests', scene.runs.hdfs, '--types')).filter(r => r.count > 3),
		[one] = rows(asked('requests', scene.runs.hdfs, '--type', type.type, '--slowest', '1')),
		id = String(one.id);
	const want = rows(asked('requests', scene.runs.hdfs, '--request', id, '--compare')),
		median = want.find(r => r.section === 'median'),
		hops = want.filter(r => r.section === 'compare');
	await scene.open(`#/request?request=${id}`);
	assert.equal(await scene.page.locator('.lane.other').isVisible(), false);
	await scene.page.keyboard.press('m');
	await scene.settled();
	assert.ok(scene.hash.includes('beside=median'), scene.hash);
	assert.equal(await scene.text('.besidehops h2'), `Beside request ${median.id}, the median of its type`);
	assert.ok((await scene.text('.besidehops p')).includes(`${number(median.faster)} of ${number(median.count)} of its type are faster`));
	assert.equal(await scene.page.locator('.besidehops .table').getAttribute('aria-rowcount'), String(hops.length + 1));
	// the largest difference first
	const most = hops.reduce((a, b) => (Math.abs(b.delta) > Math.abs(a.delta) ? b : a));
	assert.ok((await scene.text('.besidehops .tbody .tr [role=cell]')).includes(most.name));
	// both to one scale
	const ticks = await scene.page.evaluate(() => [...document.querySelectorAll('.lane .axis')].map(a => a.textContent));
	assert.equal(ticks.length, 2);
	assert.equal(ticks[0], ticks[1]);
	await scene.screen('beside-median');
	await scene.page.locator('.lane.other .row').first().click();
	await scene.settled();
	assert.ok(scene.hash.includes('besidespan='));
	await scene.page.getByRole('button', { name: 'alone' }).click();
	await scene.settled();
	assert.equal(await scene.page.locator('.lane.other').isVisible(), false);
}

export async function a_request_stands_beside_any_other(scene) {
	const [a, b] = rows(asked('requests', scene.runs.hdfs, '--slowest', '2'));
	await scene.open(`#/request?request=${a.id}`);
	await scene.page.locator('.besideid').fill(String(b.id));
	await scene.page.locator('.besideid').press('Enter');
	await scene.page.waitForFunction(id => location.hash.includes(`beside=${id}`), String(b.id));
	await scene.settled();
	assert.equal(await scene.text('.besidehops h2'), `Beside request ${b.id}`);
	await scene.open(`#/request?request=${a.id}&beside=999999`);
	assert.match(await scene.text('.empty'), /no request/i);
	scene.complaints.length = 0; // the browser tells of the 404
}

export async function a_selection_is_kept_to_compare_with(scene) {
	const { early, late } = halves(scene);
	await scene.open(link('requests', early));
	await scene.page.getByRole('button', { name: 'Compare with this' }).click();
	await scene.settled();
	assert.equal(new URLSearchParams(scene.hash.split('?')[1]).get('then'), written(early));
	// the other half, with the first one still there
	await scene.open(link('requests', { ...late, then: written(early), against: '1' }));
	assert.match(await scene.text('.pinned .chip'), /^time /);
	const now = rows(asked('requests', scene.runs.hdfs, '--types', '--from', late.from)),
		before = rows(asked('requests', scene.runs.hdfs, '--types', '--until', early.until));
	const both = now.find(t => before.some(o => o.type === t.type)),
		was = before.find(o => o.type === both.type);
	const button = scene.page.locator('.facet').first().locator('button', { hasText: both.type }).first();
	assert.ok((await button.innerText()).includes(`${number(both.count)} (${number(was.count)})`), await button.innerText());
	assert.match(await scene.text('.u-title'), /dashed: the other/);
	await scene.screen('compared-requests');
	// places change, and the way back
	await scene.page.keyboard.press('x');
	await scene.settled();
	const params = new URLSearchParams(scene.hash.split('?')[1]);
	assert.equal(params.get('until'), early.until);
	assert.equal(params.get('then'), written(late));
	await scene.page.keyboard.press('Escape');
	await scene.settled();
	assert.ok(!scene.hash.includes('then=') && !scene.hash.includes('against='));
	assert.ok(scene.hash.includes('until='), 'the selection itself stays');
	await scene.page.keyboard.press('Escape');
	await scene.settled();
	assert.ok(!scene.hash.includes('until='));
}

export async function two_selections_of_one_run_are_told_apart_by_diff(scene) {
	const { early, late } = halves(scene),
		then = written(early);
	const want = rows(asked('diff', scene.runs.hdfs, scene.runs.hdfs, '--until', early.until, '--then', written(late))).filter(r => r.what);
	assert.ok(want.length > 1);
	await scene.open(link('diff', { ...late, then, against: '1' }));
	assert.equal(await scene.page.locator('.view.diff .table').getAttribute('aria-rowcount'), String(want.length + 1));
	assert.match(await scene.text('.sides'), /^before: time .* after: time /);
	await scene.screen('compared-diff');
	await scene.open(link('diff', { ...early, then, against: '1' }));
	assert.match(await scene.text('.empty'), /Select something else/);
}

export async function paths_tell_what_was_before(scene) {
	const { early, late } = halves(scene),
		now = rows(asked('paths', scene.runs.hdfs, '--fold', '--from', late.from)).filter(r => r.path),
		before = rows(asked('paths', scene.runs.hdfs, '--fold', '--until', early.until)).filter(r => r.path);
	const both = now.find(p => before.some(o => o.path === p.path)),
		was = before.find(o => o.path === both.path);
	await scene.open(link('paths', { ...late, then: written(early), against: '1' }));
	const row = (await scene.page.locator('.view.paths .tbody .tr').allInnerTexts()).map(t => t.split('\n')).find(t => t[0] === both.path);
	assert.deepEqual([row[1], row[2]], [number(both.count), number(was.count)]);
	await scene.screen('compared-paths');
}

export async function views_of_one_side_say_which(scene) {
	const { early, late } = halves(scene),
		params = { ...late, then: written(early), against: '1' };
	for (const view of ['answer', 'request', 'objects']) {
		await scene.open(link(view, params));
		assert.match(await scene.text('.sidenote'), /Shown here: time .* Not shown: time /, view);
		await scene.page.locator('.sidenote button').click();
		await scene.settled();
		assert.equal(new URLSearchParams(scene.hash.split('?')[1]).get('until'), early.until, view);
		await scene.screen(`compared-${view}`);
	}
}

export async function everything_is_compared_with_nothing_selected(scene) {
	await scene.open(link('requests', { then: written({}), against: '1', min: '1000000' }));
	const types = rows(asked('requests', scene.runs.hdfs, '--types'));
	assert.equal(await scene.page.locator('.facet').first().locator('button').count(), types.length, 'what only the other has is there');
}

export async function objects_show_when_lines_name_them(scene) {
	const want = rows(asked('objects', scene.runs.hdfs, '--instances', '--events')).filter(r => r.object),
		some = want.find(r => r.times?.length > 2);
	assert.ok(some);
	assert.equal(some.times[0], 0);
	assert.ok(some.times.every((t, i) => t <= some.duration && (!i || t > some.times[i - 1])));
	await scene.open('#/objects');
	const drawn = await scene.page.evaluate(() => {
		const c = document.querySelector('.objcanvas');
		return c
			.getContext('2d')
			.getImageData(0, 0, c.width, c.height)
			.data.some(v => v > 0);
	});
	assert.ok(drawn);
}

export async function comparing_fits_and_can_be_read_by_all(scene) {
	const { early, late } = halves(scene),
		both = { ...late, then: written(early), against: '1' };
	for (const [width, height] of [
		[1280, 800],
		[3840, 2160],
	])
		for (const scheme of ['light', 'dark']) {
			await scene.page.setViewportSize({ width, height });
			await scene.page.emulateMedia({ colorScheme: scheme });
			for (const [view, params] of [
				['request', { ...both, beside: 'median' }],
				['requests', both],
				['paths', both],
				['diff', both],
			]) {
				await scene.open(link(view, params));
				await scene.screen(`compared-${view}-${width}-${scheme}`);
				const wide = await scene.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				assert.ok(wide <= 0, `${view} at ${width}: ${wide} px too wide`);
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
					`${view}, ${width}, ${scheme}`,
				);
			}
		}
}

export async function hostile_names_are_text_when_compared(scene) {
	const types = rows(asked('requests', scene.runs.hostile, '--types')).filter(r => r.type && r.type.length < 1000),
		type = types.find(r => /[<,=]/.test(r.type)) ?? types[0];
	for (const [view, params] of [
		['request', { beside: 'median' }],
		['requests', { type: type.type }],
		['paths', { type: type.type }],
		['diff', { type: type.type }],
		['diff', { against: '1' }],
	]) {
		await scene.open(link(view, { run: '3', against: '3', then: written({}), ...params }));
		assert.equal(await scene.page.evaluate(() => window.pwned), undefined, view);
		assert.equal(await scene.page.locator('body script, main iframe, main img, main base, main meta, main style').count(), 0, view);
	}
	// kept and taken back: the name is the same afterwards
	await scene.open(link('requests', { run: '3', type: type.type }));
	await scene.page.keyboard.press('c');
	await scene.settled();
	await scene.page.keyboard.press('x');
	await scene.settled();
	assert.equal(new URLSearchParams(scene.hash.split('?')[1]).get('type'), type.type);
}

export async function the_other_run_need_not_have_the_type(scene) {
	const there = rows(asked('requests', scene.runs.hdfs, '--types')),
		elsewhere = rows(asked('requests', scene.runs.hostile, '--types')),
		type = there.find(t => !elsewhere.some(o => o.type.includes(t.type)));
	for (const view of ['requests', 'paths']) {
		await scene.open(link(view, { run: '1', against: '3', type: type.type }));
		assert.equal(await scene.page.locator('.failed').count(), 0, view);
		assert.match(await scene.text('.said'), /has nothing of this/, view);
	}
	scene.complaints.length = 0; // the browser tells of what was refused
}
