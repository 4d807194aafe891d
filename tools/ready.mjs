#!/usr/bin/env node
/**
 * Makes `npm start` and `npm test` work in a fresh clone: installs the development dependencies when they are not there, or
 * when the lock file has changed since. Plain JavaScript without imports from npm, as nothing is installed yet.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.tsamba-installed');
const lock = join(root, 'package-lock.json');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Tsamba needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

if (!existsSync(stamp) || statSync(stamp).mtimeMs < statSync(lock).mtimeMs) {
  console.log('Installing development dependencies …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Not `npm ci`: it refuses lock files that lack the optional binaries of other platforms. This keeps the locked versions
  // and leaves the lock file alone.
  const result = spawnSync(npm, ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error('npm install failed: see above.');
    process.exit(result.status ?? 1);
  }
  writeFileSync(stamp, '');
  const now = new Date();
  utimesSync(stamp, now, now);
}
