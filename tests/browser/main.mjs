// Finds the tests (*.test.mjs), runs them one after the other in one browser, counts.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stage } from './stage.mjs';

const [work, part] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const tests = [];
for (const file of readdirSync(here)
	.filter(f => f.endsWith('.test.mjs'))
	.sort())
	for (const [name, run] of Object.entries(await import(join(here, file))))
		tests.push({ name: `${file.replace('.test.mjs', '')}: ${name.replaceAll('_', ' ')}`, run });

let passed = 0,
	failed = 0;
const stage = await Stage.open(work);
for (const { name, run } of tests.filter(t => !part || t.name.includes(part))) {
	const began = Date.now();
	try {
		await stage.perform(run);
		passed++;
		console.log(`ok ${name} (${Date.now() - began} ms)`);
	} catch (error) {
		failed++;
		console.log(`not ok ${name}\n${error?.stack ?? error}`);
	}
}
await stage.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
