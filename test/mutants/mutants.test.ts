/**
 * Every mutant still fits its source: what it replaces stands there once, and the tests that must find it are there. Whether they do is
 * `npm run mutants`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

it('each mutant replaces a text that its file has once, by another', () => {
  const wrong = MUTANTS.flatMap(({ file, find, replace, what }, n) => {
    const times = readFileSync(join(ROOT, file), 'utf8').split(find).length - 1;
    if (times === 1 && find !== replace) return [];
    return [`${n} (${file}, ${what}): ${times} times ${find}`];
  });
  expect(wrong).toEqual([]);
});

it('the tests that must find mutants are where they are said to be', () => {
  // Of a path that is none Vitest says that there are no tests, which would count as a mutant found.
  const battery =
    readFileSync(join(ROOT, 'test/mutants/battery.ts'), 'utf8').match(/(?<=')(?:src|test)\/[\w./-]+(?=')/g) ?? [];
  const named = MUTANTS.flatMap(({ tests = [] }) => tests).filter((path) => /^(?:src|test)\//.test(path));
  expect(Math.min(battery.length, named.length)).toBeGreaterThan(20);
  expect([...new Set([...battery, ...named])].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
