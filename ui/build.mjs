// Bundles src/ and writes it as C: one packed array for each file, found by its path.
//
//   node build.mjs OUTPUT.c
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const LIMIT = 300_000; // bytes, packed: the page stays small

const made = await build({
	entryPoints: { page: 'src/main.ts', style: 'src/style.css' },
	bundle: true,
	minify: true,
	write: false,
	outdir: 'out',
	target: 'es2022',
	format: 'esm',
	legalComments: 'none',
	logLevel: 'warning',
});
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
const files = [
	['index.html', readFileSync('src/index.html')],
	['icon.svg', readFileSync('src/icon.svg')],
	...made.outputFiles.map(f => [f.path.split('/').pop(), Buffer.from(f.contents)]),
];

let text = '#include "web/asset.h"\n\n',
	table = 'const struct asset assets[] = {\n',
	total = 0;
for (const [nr, [name, content]] of files.entries()) {
	const packed = gzipSync(content, { level: 9 });
	const tag = createHash('sha256').update(content).digest('hex').slice(0, 16);
	total += packed.length;
	text += `static const unsigned char file_${nr}[] = {${[...packed].join(',')}};\n`;
	table += `\t{ "/${name}", "${types[name.split('.').pop()]}", file_${nr}, sizeof(file_${nr}), "${tag}" },\n`;
}
if (total > LIMIT) {
	console.error(`the page takes ${total} bytes packed, where ${LIMIT} is the limit`);
	process.exit(1);
}
writeFileSync(process.argv[2], `${text}\n${table}\t{ 0 },\n};\n`);
