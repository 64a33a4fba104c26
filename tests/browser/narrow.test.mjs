// The page on a phone: everything can be read and reached, and nothing lies over anything else. Judged by the boxes that the browser makes.
import assert from 'node:assert/strict';
import { look, PHONE } from './boxes.mjs';
import { asked, rows } from './stage.mjs';

/** Every view, alone and compared, with all that can be picked in it. */
function links(scene) {
	const type = rows(asked('requests', scene.runs.hdfs, '--types'))[0].type,
		one = `type=${encodeURIComponent(type)}`;
	return {
		'answer': '#/answer',
		'answer-compared': `#/answer?${one}&against=2&then=`,
		'requests': '#/requests',
		'requests-of-a-type': `#/requests?${one}`,
		'requests-compared': `#/requests?${one}&against=2&then=${encodeURIComponent(`type=${type}`)}`,
		'requests-grouped': '#/requests?group=sequence',
		'request': '#/request',
		'request-beside': '#/request?beside=median',
		'paths': '#/paths',
		'paths-compared': '#/paths?run=1&against=2',
		'objects': '#/objects',
		'diff': '#/diff?run=1&against=2',
		'diff-by-factor': '#/diff?run=1&against=2&by=factor',
		'diff-of-nothing': '#/diff',
		'variance': '#/variance',
		'live': '#/live',
		'hostile': '#/answer?run=3',
		'hostile-requests': '#/requests?run=3',
		'hostile-request': '#/request?run=3',
		'hostile-paths': '#/paths?run=3',
		'hostile-objects': '#/objects?run=3',
		'hostile-variance': '#/variance?run=3',
	};
}

export async function every_view_can_be_read_on_a_phone(scene) {
	await scene.page.setViewportSize(PHONE);
	for (const scheme of ['light', 'dark']) {
		await scene.page.emulateMedia({ colorScheme: scheme });
		for (const [name, link] of Object.entries(links(scene))) {
			await scene.open(link);
			await scene.screen(`phone-${name}-${scheme}`);
			if (scheme === 'light') await look(scene, name);
		}
	}
}

export async function no_width_between_phone_and_desk_is_forgotten(scene) {
	const all = links(scene);
	for (const name of ['answer-compared', 'requests-of-a-type', 'request-beside', 'paths-compared', 'objects', 'diff', 'variance']) {
		await scene.open(all[name]);
		for (const width of [320, 600, 800, 801, 1200, 1201, 1280]) {
			await scene.page.setViewportSize({ width, height: 800 });
			await look(scene, `${name} at ${width}`);
		}
	}
}

export async function the_first_finding_is_as_wide_as_the_phone(scene) {
	await scene.page.setViewportSize(PHONE);
	await scene.open('#/answer');
	const sentence = await scene.page.locator('.finding .sentence').first().boundingBox(),
		picture = await scene.page.locator('.finding .picture').first().boundingBox();
	assert.ok(sentence.width > 0.75 * PHONE.width, `${sentence.width} px`);
	assert.ok(picture.y >= sentence.y + sentence.height && picture.x + picture.width <= PHONE.width, 'the picture stands below the words');
}

export async function the_menu_and_the_run_are_apart(scene) {
	await scene.page.setViewportSize(PHONE);
	await scene.open('#/answer');
	const menu = await scene.page.locator('.tabs').boundingBox(),
		runs = await scene.page.locator('.runs').boundingBox();
	assert.ok(menu.y >= runs.y + runs.height || runs.y >= menu.y + menu.height, JSON.stringify({ menu, runs }));
	// and each is of use: a view, another run, what can be saved
	await scene.page.locator('.tabs a', { hasText: 'Variance' }).click();
	await scene.page.waitForFunction(() => location.hash.startsWith('#/variance'));
	await scene.settled();
	await scene.page.getByLabel('Run', { exact: true }).selectOption('2');
	await scene.page.waitForFunction(() => location.hash.includes('run=2'));
	await scene.settled();
	await scene.page.locator('.exports > summary').click();
	const box = await scene.page.locator('.menu').boundingBox();
	assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width, JSON.stringify(box));
	await scene.page.keyboard.press('Escape');
	// another view begins at its top, however far down the last one was read
	await scene.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
	await scene.page.keyboard.press('1');
	await scene.page.waitForFunction(() => location.hash.startsWith('#/answer'));
	await scene.settled();
	assert.equal(await scene.page.evaluate(() => scrollY), 0);
}
