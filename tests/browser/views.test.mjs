// What a person sees: the numbers of the command line, in every view, at two sizes, dark and light.
import assert from 'node:assert/strict';
import { asked, rows } from './stage.mjs';

const VIEWS = ['answer', 'requests', 'request', 'paths', 'objects', 'diff', 'variance', 'live'];

export async function the_first_finding_is_that_of_the_command_line(scene) {
	const findings = rows(asked('answer', scene.runs.hdfs)).filter(r => r.text);
	await scene.open('#/answer');
	const cards = await scene.texts('.finding .sentence');
	assert.equal(cards.length, findings.length);
	// the sentence that names the culprit stands first, all are there
	const said = findings[0].text
		.split('\n')
		.map(t => t.trim())
		.filter(Boolean);
	assert.ok(said.includes(cards[0].trim()), cards[0]);
	assert.ok(!findings[0].node || cards[0].includes(findings[0].node));
	const card = await scene.text('.finding');
	for (const line of said) assert.ok(card.includes(line), line);
	assert.match(await scene.text('.finding .sure'), new RegExp(`${Math.round(100 * findings[0].confidence)} % sure`));
	assert.ok((await scene.page.locator('.finding .picture svg').count()) > 0);
}

export async function from_the_finding_to_its_evidence(scene) {
	await scene.open('#/answer');
	const [finding] = rows(asked('answer', scene.runs.hdfs)).filter(r => r.text);
	// one click, or j and Enter: a request in which the step that is blamed is picked
	for (const go of [
		() => scene.page.locator('.finding .ways a').first().click(),
		async () => {
			await scene.page.keyboard.press('j');
			await scene.page.keyboard.press('Enter');
		},
	]) {
		await go();
		await scene.page.waitForFunction(() => location.hash.startsWith('#/request?'));
		await scene.settled();
		assert.ok(scene.hash.includes(`request=${finding.examples[0]}`));
		assert.equal(await scene.text('.detail h2'), finding.name);
		assert.equal(await scene.text('.timeline .row.at .node'), finding.node);
		assert.ok(await scene.page.locator('.timeline .row.at').isVisible());
		await scene.page.goBack();
		await scene.settled();
		assert.match(scene.hash, /^#\/answer|^$|^#\/$/);
	}
	for (const [text, view] of [
		['requests over time', 'requests'],
		['against the usual time', 'diff'],
	]) {
		const way = scene.page.locator('.finding .ways a', { hasText: text }).first();
		if (!(await way.count())) continue;
		await way.click();
		await scene.page.waitForFunction(v => location.hash.startsWith(`#/${v}?`), view);
		await scene.settled();
		assert.equal(await scene.page.locator('.empty').count(), 0, text);
		await scene.page.goBack();
		await scene.settled();
	}
}

export async function requests_show_the_types_and_the_slowest(scene) {
	const slowest = rows(asked('requests', scene.runs.hdfs, '--slowest', '5')),
		types = rows(asked('requests', scene.runs.hdfs, '--types'));
	await scene.open('#/requests');
	const ids = await scene.texts('.view.requests .tbody .tr [role=cell]:first-child');
	assert.deepEqual(
		ids.slice(0, 3),
		slowest.slice(0, 3).map(r => String(r.id)),
	);
	assert.equal(await scene.page.locator('.facet').first().locator('button').count(), types.length);
}

export async function picking_a_type_narrows_everything(scene) {
	const type = rows(asked('requests', scene.runs.hdfs, '--types'))[0];
	await scene.open('#/requests');
	await scene.page.locator('.facet').first().locator('button', { hasText: type.type }).first().click();
	await scene.settled();
	assert.ok(scene.hash.includes('type='));
	assert.equal(await scene.text('.listnote'), `all ${type.count.toLocaleString('en-US')}`);
	assert.match(await scene.text('.chip'), /^type /);
	// the selection follows to another view
	await scene.page.keyboard.press('g');
	await scene.page.keyboard.press('p');
	await scene.settled();
	assert.match(scene.hash, /^#\/paths\?.*type=/);
	const want = rows(asked('paths', scene.runs.hdfs, '--type', type.type, '--fold')).filter(r => r.path);
	assert.equal(await scene.page.locator('.view.paths .table').getAttribute('aria-rowcount'), String(want.length + 1));
}

export async function the_table_can_be_grouped(scene) {
	const want = rows(asked('requests', scene.runs.hdfs, '--sequences')).filter(r => r.sequence);
	await scene.open('#/requests');
	await scene.page.getByLabel('Group the table').selectOption('sequence');
	await scene.settled();
	assert.equal(await scene.text('.listnote'), `${want.length.toLocaleString('en-US')} groups`);
	assert.equal((await scene.texts('.view.requests .tbody .tr [role=cell]:first-child'))[0], want[0].sequence);
}

export async function brushing_the_picture_selects_time_and_latency(scene) {
	await scene.open('#/requests');
	const box = await scene.page.locator('canvas.heat').boundingBox();
	await scene.page.mouse.move(box.x + 200, box.y + 40);
	await scene.page.mouse.down();
	await scene.page.mouse.move(box.x + 500, box.y + 160, { steps: 5 });
	await scene.page.mouse.up();
	await scene.settled();
	for (const name of ['from', 'until', 'min', 'max']) assert.ok(scene.hash.includes(`${name}=`), `${name} in ${scene.hash}`);
	await scene.page.keyboard.press('Escape');
	await scene.settled();
	assert.ok(!scene.hash.includes('from='));
}

export async function one_request_shows_its_spans_path_and_lines(scene) {
	const [slowest] = rows(asked('requests', scene.runs.hdfs, '--slowest', '1')),
		id = String(slowest.id);
	const tree = rows(asked('requests', scene.runs.hdfs, '--request', id)).filter(r => r.what === 'span');
	const path = rows(asked('requests', scene.runs.hdfs, '--request', id, '--critical-path'))[0].sections;
	await scene.open(`#/request?request=${id}`);
	assert.match(await scene.text('.headline h2'), new RegExp(`Request ${id}`));
	assert.ok((await scene.text('.headline p')).includes(`${tree.length.toLocaleString('en-US')} span`));
	assert.ok((await scene.page.locator('.strip rect').count()) >= path.length);
	await scene.page.locator('.timeline .rows').focus();
	await scene.page.keyboard.press('Home');
	await scene.settled();
	assert.ok((await scene.text(`.timeline [data-span="${tree[0].span}"] .name`)).includes(tree[0].name));
	await scene.page.locator('.timeline .row').nth(1).click();
	await scene.settled();
	assert.ok(scene.hash.includes('span='));
	assert.ok((await scene.text('.detail h2')).length > 0);
}

export async function paths_show_the_patterns_and_the_system(scene) {
	const want = rows(asked('paths', scene.runs.hdfs, '--fold')).filter(r => r.path),
		nodes = rows(asked('paths', scene.runs.hdfs, '--graph')).filter(r => r.section === 'node');
	await scene.open('#/paths');
	assert.equal(await scene.page.locator('.view.paths .table').getAttribute('aria-rowcount'), String(want.length + 1));
	const boxes = await scene.texts('.graph .box .title');
	for (const n of nodes) assert.ok(boxes.includes(n.node), n.node);
}

export async function objects_show_the_types_and_where_the_time_goes(scene) {
	const types = rows(asked('objects', scene.runs.hdfs)).filter(r => r.signature && r.in_graph);
	await scene.open('#/objects');
	assert.equal(await scene.page.locator('.typesgraph .box').count(), types.length);
	await scene.page.locator('.typesgraph .box').first().click();
	await scene.settled();
	assert.ok(scene.hash.includes('kind='));
	await scene.page.locator('.objscroll').focus();
	await scene.page.keyboard.press('j');
	await scene.settled();
	assert.ok(scene.hash.includes('object='));
	assert.ok((await scene.text('.view.objects .side h2')).length > 0);
}

export async function two_runs_are_compared(scene) {
	const want = rows(asked('diff', scene.runs.later, scene.runs.hdfs)).filter(r => r.what);
	await scene.open('#/diff?run=1&against=2');
	assert.equal(await scene.page.locator('.view.diff .table').getAttribute('aria-rowcount'), String(want.length + 1));
	await scene.open('#/diff');
	assert.match(await scene.text('.empty'), /Against/);
}

export async function two_runs_are_compared_by_factor(scene) {
	const want = rows(asked('diff', scene.runs.later, scene.runs.hdfs, '--by', 'factor')).filter(r => r.what === 'factor');
	assert.ok(want.length > 2, 'the samples differ in some factors');
	assert.equal(
		await (await fetch(`${scene.url}api/diff?run=2&against=1&by=factor`)).text(),
		asked('diff', scene.runs.later, scene.runs.hdfs, '--by', 'factor'),
	);
	await scene.open('#/diff?run=1&against=2');
	await scene.page.getByRole('button', { name: 'by factor' }).click();
	await scene.settled();
	assert.ok(scene.hash.includes('by=factor'));
	assert.equal(await scene.page.locator('.picker .here').innerText(), 'by factor');
	assert.equal(await scene.page.locator('.view.diff .table').getAttribute('aria-rowcount'), String(want.length + 1));
	assert.deepEqual(
		(await scene.texts('.view.diff .tbody .tr [role=cell]:nth-child(2)')).slice(0, 3),
		want.slice(0, 3).map(r => r.name),
	);
	// squares of time, and as many bars as there is room for
	assert.ok((await scene.text('.view.diff .sentence')).includes(`${want[0].factor[0]} `));
	assert.match(await scene.text('.view.diff .sentence'), /[num]?s² .* of the difference\.$/);
	assert.equal(await scene.page.locator('.tornado rect').count(), Math.min(8, want.length));
	await scene.screen('diff-by-factor');
	// from a factor to what it is in the run that is looked at
	await scene.page.locator('.view.diff .tbody .tr').first().click();
	await scene.settled();
	assert.ok(scene.hash.startsWith('#/variance?'));
	assert.equal(new URLSearchParams(scene.hash.split('?')[1]).get('what'), want[0].name);
	// and back to times: other columns
	await scene.open('#/diff?run=1&against=2&by=factor');
	await scene.page.getByRole('button', { name: 'by hop' }).click();
	await scene.settled();
	assert.ok((await scene.text('.view.diff .th')).includes('Step'));
}

export async function variance_shows_the_factors_of_the_command_line(scene) {
	const told = rows(asked('variance', scene.runs.hdfs)),
		factors = told.filter(r => r.factor),
		whole = told.find(r => r.section === 'summary');
	await scene.open('#/variance');
	assert.equal(await scene.text('.view.variance .sentence'), whole.text);
	const names = await scene.texts('.view.variance .tbody .tr [role=cell]:first-child');
	assert.deepEqual(
		names.slice(0, 3),
		factors.slice(0, 3).map(r => r.factor.join(' with ')),
	);
	const tree = rows(asked('variance', scene.runs.hdfs, '--tree')).filter(r => r.place !== undefined);
	assert.ok((await scene.text('.icicles')).includes(tree[0].name));
	// the slider: constant first, all of the variation is what is there now
	const p99 = async () => (await scene.texts('.supposed tbody tr:first-child td'))[2];
	const picked = factors.find(r => r.if_p99);
	await scene.page.locator('.view.variance .tbody .tr', { hasText: picked.factor[0] }).first().click();
	await scene.settled();
	assert.ok(scene.hash.includes('what='));
	const constant = await p99();
	await scene.page.getByLabel('How much of its variation is left').focus();
	await scene.page.keyboard.press('End');
	await scene.settled();
	assert.ok(scene.hash.includes('kept=10'));
	assert.equal(await p99(), (await scene.texts('.supposed tbody tr:first-child td'))[1]);
	await scene.page.keyboard.press('Home');
	await scene.settled();
	assert.equal(await p99(), constant);
	const gap = factors.filter(r => r.tail).sort((a, b) => b.tail.share - a.tail.share)[0];
	assert.equal((await scene.texts('.tails tbody td.who'))[0], gap.factor[0]);
}

export async function a_link_shows_the_same_to_another_person(scene) {
	for (const view of VIEWS) {
		await scene.open(`#/${view}?run=1&against=2`);
		const first = await scene.text('main');
		await scene.open('#/answer');
		await scene.open(`#/${view}?run=1&against=2`);
		assert.equal(await scene.text('main'), first, view);
	}
}

export async function every_view_at_two_sizes_dark_and_light(scene) {
	for (const [width, height] of [
		[1280, 800],
		[3840, 2160],
	])
		for (const scheme of ['light', 'dark']) {
			await scene.page.setViewportSize({ width, height });
			await scene.page.emulateMedia({ colorScheme: scheme });
			for (const view of VIEWS) {
				await scene.open(`#/${view}?run=1&against=2`);
				await scene.screen(`${view}-${width}-${scheme}`);
				const wide = await scene.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				assert.ok(wide <= 0, `${view} at ${width}: ${wide} px too wide`);
			}
		}
}

export async function nothing_jumps_while_a_view_loads(scene) {
	for (const view of VIEWS) {
		await scene.page.goto('about:blank');
		await scene.page.addInitScript(() => {
			window.jumped = 0;
			new PerformanceObserver(list => {
				for (const e of list.getEntries()) if (!e.hadRecentInput) window.jumped += e.value;
			}).observe({ type: 'layout-shift', buffered: true });
		});
		await scene.open(`#/${view}?run=1&against=2`);
		const jumped = await scene.page.evaluate(() => window.jumped);
		assert.ok(jumped < 0.1, `${view}: ${jumped}`);
	}
}

export async function what_is_missing_is_told(scene) {
	await scene.open('#/request?request=999999');
	assert.match(await scene.text('.empty'), /no request/i);
	scene.complaints.length = 0; // the browser tells of the 404
	await scene.open('#/requests?run=9');
	assert.match(await scene.text('.empty'), /no such run/i);
}

export async function losses_are_visible(scene) {
	await scene.open('#/answer');
	const told = asked('answer', scene.runs.hdfs)
		.split('\n')
		.filter(l => l.startsWith('{"losses"'));
	if (told.length) assert.match(await scene.text('.losses'), /kinds of losses/);
	else assert.match(await scene.text('.losses'), /Nothing was passed over/);
}

export async function views_can_be_saved(scene) {
	await scene.open('#/requests');
	for (const [title, name] of [
		['Table as CSV', 'requests.csv'],
		['Latency over time as PNG', 'latency.png'],
		['This view as one HTML file', 'culprit-requests.html'],
	]) {
		await scene.page.locator('.exports > summary').click();
		const [download] = await Promise.all([scene.page.waitForEvent('download'), scene.page.locator('.menu').getByText(title).click()]);
		assert.equal(download.suggestedFilename(), name);
		await scene.page.locator('.exports > summary').click();
	}
}
