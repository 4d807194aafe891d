/**
 * The tables of README.md and docs/benchmarks.md say what the newest records of `bench/results` say.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fill, NAMES, namesOf, PAGES } from '../tools/figures/fill.ts';
import { ROOT } from '../tools/figures/records.ts';

const pages = PAGES.map((name) => readFileSync(join(ROOT, name), 'utf8'));

it.each(PAGES.map((name, k) => [name, pages[k] as string] as const))(
  '%s has the figures of the newest records; `npm run figures` writes them',
  (_, page) => {
    expect(namesOf(page).length).toBeGreaterThan(1);
    expect(page).toBe(fill(page));
  },
);

it('every table is on a page, and a figure that was changed by hand is noticed', () => {
  expect(pages.flatMap(namesOf).sort()).toEqual([...NAMES].sort());
  for (const page of pages) {
    const changed = page.replace(
      /^(\| saxpy.*?\| )(\d)/m,
      (_, before: string, digit: string) => `${before}${9 - Number(digit)}`,
    );
    expect(changed).not.toBe(page);
    expect(fill(changed)).toBe(page);
  }
  expect(() => fill('<!-- figures: none -->\n\n<!-- end of figures -->')).toThrow('no figures called none');
});
