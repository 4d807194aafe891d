/**
 * docs/errors.md lists every code that the sources can throw, and docs/environment.md every variable that they read; and no others.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KIND_NAMES } from '../src/driver/driver.ts';
import { ROOT } from './support/doc-blocks.ts';

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((e) => e.isFile() && e.name.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(e.name))
    .map((e) => join(e.parentPath, e.name));
}

const code = /'(K\d{3}|E_[A-Z0-9_]+)'/g;
const warning = /(?:warn\(\s*|code: )'(TSAMBA_[A-Z_]+)'/g;

it('every code has its line in docs/errors.md', () => {
  const text = sources(join(ROOT, 'src'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const used = new Set([...text.matchAll(code), ...text.matchAll(warning)].map(([, name]) => name));
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const listed = [...page.matchAll(/^\| ((?:K\d{3}|E_\w+|TSAMBA_\w+)) \|/gm)].map(([, name]) => name);
  expect([...used].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !used.has(name))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

it('every kind of device is named in docs/environment.md, in the order of the table', () => {
  const page = readFileSync(join(ROOT, 'docs/environment.md'), 'utf8');
  const line = /^\| `TSAMBA_DEVICE` \|.*?: (.*?)\. /m.exec(page)?.[1] ?? '';
  expect([...line.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(['auto', ...KIND_NAMES]);
});

it('every environment variable has its line in docs/environment.md', () => {
  const read = (page: string): string => readFileSync(join(ROOT, 'docs', page), 'utf8');
  const codes = new Set(read('errors.md').match(/TSAMBA_[A-Z_]+/g));
  const named = new Set<string>();
  for (const file of sources(join(ROOT, 'src'))) {
    for (const [name] of readFileSync(file, 'utf8').matchAll(/\bTSAMBA_[A-Z_]*[A-Z]\b/g)) named.add(name);
  }
  const page = read('environment.md');
  const listed = [...page.matchAll(/^\| `(TSAMBA_[A-Z_]+)/gm)].map(([, name]) => name);
  const variables = [...named].filter((name) => !codes.has(name) || listed.includes(name));
  expect(variables.filter((name) => !listed.includes(name))).toEqual([]);
  // Names that are put together in the sources are not to be found there.
  const put = /^TSAMBA_CUDA_MAX_PENDING_DEALLOCS_/;
  expect(listed.filter((name) => !named.has(name) && !put.test(name))).toEqual([]);
});
