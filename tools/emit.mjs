#!/usr/bin/env node
/**
 * `node tools/emit.mjs FOLDER [options of tsc]`: compiles what is published as the package lays it out. The library stands at the
 * top of the folder, the conformance suite under `testsuite/`; in the repository they stand side by side.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
const [folder, ...options] = process.argv.slice(2);
const out = resolve(folder);

const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', out, ...options];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });

edit(join(out, 'testsuite'), /\.(?:js|d\.ts)$/, (text) => text.replaceAll(/(?<=['"](?:\.\.\/)+)src\//g, ''));
edit(join(out, 'src'), /\.map$/, (text) => text.replaceAll('"../', '"'));
for (const name of readdirSync(join(out, 'src'))) renameSync(join(out, 'src', name), join(out, name));
rmSync(join(out, 'src'), { recursive: true });
process.exitCode = status ?? 1;

function edit(folder, names, change) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (names.test(name)) writeFileSync(join(folder, name), change(readFileSync(join(folder, name), 'utf8')));
  }
}
