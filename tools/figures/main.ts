/**
 * Writes the figures of the newest records in `bench/results` to README.md and docs/benchmarks.md: `npm run figures`. The site's build
 * does it first, and a test fails where a page has other figures.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill, PAGES } from './fill.ts';
import { ROOT } from './records.ts';

for (const name of PAGES) {
  const path = join(ROOT, name);
  const before = readFileSync(path, 'utf8');
  const after = fill(before);
  if (after === before) continue;
  writeFileSync(path, after);
  console.log(`${name} has new figures`);
}
