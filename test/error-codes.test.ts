/**
 * docs/errors.md lists every code that the sources can throw, and no others.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/doc-blocks.ts';

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((e) => e.isFile() && e.name.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(e.name))
    .map((e) => join(e.parentPath, e.name))
    .filter((file) => !file.includes('/testsuite/'));
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
