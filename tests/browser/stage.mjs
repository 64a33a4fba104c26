// What tests stand on: runs that are made once, a server for them, a browser, and helpers to look with.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { writeHostile } from './hostile.mjs';

const CULPRIT = process.env.CULPRIT,
	ROOT = process.env.ROOT;
const SETTLED_MS = 180_000; // on a machine with much else to do

/** What the command line prints with --json. */
export function asked(...args) {
	try {
		return execFileSync(CULPRIT, [...args, '--json'], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
	} catch (error) {
		return error.stdout.toString(); // nothing found is an answer, too
	}
}
export const rows = text =>
	text
		.split('\n')
		.filter(Boolean)
		.map(l => JSON.parse(l))
		.filter(r => !(r.losses && Object.keys(r).length === 1));

export class Stage {
	static async open(work) {
		const stage = new Stage();
		stage.work = work;
		stage.makeRuns();
		stage.server = await Server.open(stage.runs.hdfs, stage.runs.later, stage.runs.hostile);
		stage.browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--force-color-profile=srgb'] });
		return stage;
	}

	makeRuns() {
		const run = (name, inputs) => {
			const path = join(this.work, 'runs', `${name}.culprit`);
			// another program may make another run
			if (!existsSync(path) || statSync(path).mtimeMs < statSync(CULPRIT).mtimeMs)
				execFileSync(CULPRIT, ['analyze', ...inputs, '-o', path], { stdio: ['ignore', 'ignore', 'inherit'] });
			return path;
		};
		const sample = join(ROOT, 'samples/hdfs');
		this.runs = {
			hdfs: run('hdfs', [sample]),
			later: run('later', [join(sample, 'nn.log.gz'), join(sample, 'dn1.log.gz')]),
			hostile: run('hostile', writeHostile(join(this.work, 'runs'))),
		};
	}

	/** One test: a page of its own, which must not complain. */
	async perform(test) {
		const complaints = [];
		const context = await this.browser.newContext({
			viewport: { width: 1280, height: 800 },
			colorScheme: 'light',
			timezoneId: 'UTC',
			acceptDownloads: true,
		});
		const page = await context.newPage();
		page.on('console', m => {
			if (m.type() === 'error') complaints.push(m.text());
		});
		page.on('pageerror', e => complaints.push(e.message));
		page.setDefaultTimeout(SETTLED_MS);
		const scene = new Scene(this, page, complaints);
		try {
			await test(scene);
			assert.deepEqual(complaints, [], 'the page complains');
		} catch (error) {
			await page.screenshot({ path: join(this.work, 'screens', 'failed.png') }).catch(() => {});
			throw error;
		} finally {
			await context.close();
		}
	}

	async close() {
		await this.browser.close();
		this.server.close();
	}
}

export class Server {
	static open(...args) {
		return Server.start(args);
	}

	/** With other options of spawn; any --listen among the arguments is obeyed. */
	static async start(args, options = {}) {
		const server = new Server();
		server.process = spawn(CULPRIT, ['serve', ...(args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']), ...args], {
			stdio: ['ignore', 'pipe', 'ignore'],
			...options,
		});
		process.on('exit', () => server.process.kill()); // also when a test failed
		server.address = await new Promise((done, fail) => {
			let text = '';
			server.process.stdout.on('data', d => {
				text += d;
				if (text.includes('\n')) done(text.trim());
			});
			server.process.on('exit', code => fail(new Error(`culprit serve ended with ${code}`)));
		});
		return server;
	}

	/** Resolves to its exit status. */
	close(signal = 'SIGTERM') {
		const ended = new Promise(done => {
			this.process.once('exit', done);
		});
		this.process.kill(signal);
		return this.process.exitCode === null && this.process.signalCode === null ? ended : Promise.resolve(this.process.exitCode);
	}
}

export class Scene {
	constructor(stage, page, complaints) {
		Object.assign(this, { stage, page, complaints, runs: stage.runs, url: stage.server.address });
	}

	/** Opens a link and waits until the view shows what the link says. */
	async open(hash, url = this.url) {
		await this.page.goto(`${url}${hash}`);
		await this.settled();
	}

	/** Ends a server that the page asks again and again, which would rightly complain that it is gone. */
	async leave(server) {
		await this.page.goto('about:blank');
		await server.close();
	}

	async settled() {
		await this.page.waitForFunction(() => {
			const root = document.querySelector('.view');
			return document.querySelector('.empty') || (root?.dataset.shown !== undefined && !root.hasAttribute('aria-busy'));
		});
		await this.page.waitForTimeout(60);
	}

	text(selector) {
		return this.page.locator(selector).first().innerText();
	}

	texts(selector) {
		return this.page.locator(selector).allTextContents();
	}

	screen(name) {
		return this.page.screenshot({ path: join(this.stage.work, 'screens', `${name}.png`) });
	}

	get hash() {
		return new URL(this.page.url()).hash;
	}
}
