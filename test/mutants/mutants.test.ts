/**
 * Every mutant still fits its source: what it replaces stands there once. Whether tests find the mutants is `npm run mutants`.
 */
import { readFileSync } from 'node:fs';
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
