// The page's own types, which the bundler only strips, and the form of its sources.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export async function the_sources_of_the_page_have_no_type_errors({ stage }) {
	const checked = spawnSync(join(stage.work, 'node_modules/.bin/tsc'), ['--noEmit', '-p', stage.work], { encoding: 'utf8' });
	assert.equal(checked.status, 0, checked.stdout + checked.stderr);
}

export async function the_sources_of_the_page_have_one_form({ stage }) {
	const checked = spawnSync(join(stage.work, 'node_modules/.bin/prettier'), ['--check', 'src', 'tests'], { cwd: stage.work, encoding: 'utf8' });
	assert.equal(checked.status, 0, `${checked.stdout}${checked.stderr}\nin ui/: npm ci && npm run form`);
}
