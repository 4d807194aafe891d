/**
 * The library as one file, for programs that run in a process of their own: it loads in an eighth of the time that the sources take through
 * tsx.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles files of this repository, and gives the folder where they lie as modules of the same names; removed after the tests of the file. */
export function bundled(...files: readonly string[]): (file: string) => string {
  // Where packages are found.
  const cache = join(ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'program-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  buildSync({
    entryPoints: files.map((file) => join(ROOT, file)),
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    external: ['koffi'],
    outdir: folder,
  });
  return (file) => join(folder, basename(file).replace(/\.ts$/, '.mjs'));
}

/** Arguments of Node.js for the text of a program. */
export function runText(program: string): string[] {
  return ['--input-type=module', '-e', program];
}
