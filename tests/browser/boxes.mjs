// Looks at the boxes that the browser makes: whether all can be read and reached, and nothing lies over anything else.
import assert from 'node:assert/strict';

export const PHONE = { width: 420, height: 900 };
const LEAST = 6; // letters that stand beside each other in any text that has as many; of a number all

/** Runs in the page: what is wrong with what is there, in words. */
function faults(least) {
	const found = [],
		wide = document.documentElement.clientWidth;
	const name = el => `${el.tagName.toLowerCase()}${[...el.classList].map(c => `.${c}`).join('')} "${el.textContent.trim().slice(0, 30)}"`;
	const isSeen = el => el.checkVisibility({ visibilityProperty: true }) && !el.closest('.skip, .objtimeline > .listnote');
	const cut = (a, b) => ({
		left: Math.max(a.left, b.left),
		top: Math.max(a.top, b.top),
		right: Math.min(a.right, b.right),
		bottom: Math.min(a.bottom, b.bottom),
	});
	/** What is left of a box; ancestors that scroll show the rest on demand. */
	const seenOf = (el, doScroll) => {
		let box = el.getBoundingClientRect();
		for (let up = el.parentElement; up && up !== document.documentElement; up = up.parentElement) {
			const style = getComputedStyle(up),
				frame = up.getBoundingClientRect();
			if (style.display === 'inline' || style.display === 'contents') continue;
			const clips = axis => (doScroll ? /hidden|clip/ : /hidden|clip|auto|scroll/).test(axis);
			if (doScroll && /auto|scroll/.test(style.overflowX)) box = { ...cut(box, box), left: frame.left, right: frame.right };
			if (doScroll && /auto|scroll/.test(style.overflowY)) box = { ...cut(box, box), top: frame.top, bottom: frame.bottom };
			if (clips(style.overflowX)) box = { ...cut(box, box), left: Math.max(box.left, frame.left), right: Math.min(box.right, frame.right) };
			if (clips(style.overflowY)) box = { ...cut(box, box), top: Math.max(box.top, frame.top), bottom: Math.min(box.bottom, frame.bottom) };
		}
		return box;
	};

	// the page itself does not scroll sideways, nor does what holds sentences
	for (const el of [document.documentElement, ...document.querySelectorAll('.side, .findings, .detail')])
		if (el.scrollWidth > el.clientWidth) found.push(`${el.className || 'the page'} is ${el.scrollWidth - el.clientWidth} px too wide`);

	// no text in a box that has room for a few letters only, and no number that is cut
	const range = document.createRange(),
		walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let text = walk.nextNode(); text; text = walk.nextNode()) {
		const said = text.data.trim(),
			el = text.parentElement;
		if (said.length < 2 || el.closest('svg, option, script, noscript') || !isSeen(el)) continue;
		let box = el;
		while (getComputedStyle(box).display === 'inline') box = box.parentElement;
		const style = getComputedStyle(box),
			room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
		range.selectNodeContents(text);
		// line by line: of what is cut, the dots have a box of their own
		const lines = new Map();
		for (const r of range.getClientRects()) {
			const line = lines.get(Math.round(r.bottom)) ?? { left: Infinity, right: -Infinity };
			lines.set(Math.round(r.bottom), { left: Math.min(line.left, r.left), right: Math.max(line.right, r.right) });
		}
		const long = [...lines.values()].reduce((sum, l) => sum + l.right - l.left, 0),
			wanted = el.closest('.num') && getComputedStyle(el).whiteSpace === 'nowrap' ? long : Math.min(long, (least * long) / said.length);
		if (room < wanted - 1) found.push(`${Math.round(room)} px for ${name(el)}, ${Math.round(long)} px long`);
	}

	// every control is within the page, or within what scrolls
	const controls = [...document.querySelectorAll('a, button, select, input, textarea, summary')].filter(isSeen);
	for (const el of controls) {
		const box = el.getBoundingClientRect(),
			seen = seenOf(el, true),
			right = Math.min(seen.right, wide),
			left = Math.max(seen.left, 0);
		if (right - left < Math.min(box.width, 16) - 1 || seen.bottom - seen.top < Math.min(box.height, 12) - 1)
			found.push(`${name(el)} cannot be reached`);
	}

	// none of them lies over another
	const boxes = controls.map(el => ({ el, box: seenOf(el, false) })).filter(({ box }) => box.right - box.left > 1 && box.bottom - box.top > 1);
	for (const [i, a] of boxes.entries())
		for (const b of boxes.slice(i + 1)) {
			const both = cut(a.box, b.box);
			if (a.el.contains(b.el) || b.el.contains(a.el) || both.right - both.left <= 1 || both.bottom - both.top <= 1) continue;
			found.push(`${name(a.el)} lies over ${name(b.el)}`);
		}
	return found;
}

/** When what was measured has been drawn. */
const drawn = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

export async function look(scene, what) {
	await drawn(scene.page);
	assert.deepEqual((await scene.page.evaluate(faults, LEAST)).slice(0, 8), [], what);
}
