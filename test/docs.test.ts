/**
 * README.md and docs/: every block of TypeScript compiles under strict rules, runs, and prints what it says; and links lead somewhere.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format, promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { cuda, roc } from '../src/index.ts';
import { blocksOf, type DocBlock, find, pages, ROOT, squeeze, writeBlocks } from './support/doc-blocks.ts';
import { brokenLinks, brokenRows } from './support/doc-links.ts';

const folder = join(ROOT, '.cache/docs');
const blocks = pages().flatMap(blocksOf);
const files = writeBlocks(blocks, folder);

beforeAll(() => {
  process.env.TSAMBA_DEVICE = 'cpu';
  process.env.TSAMBA_ROC_DRIVER = 'cpu';
  process.env.TSAMBA_WARN_IMPLICIT_COPY = '0';
});
afterEach(() => {
  vi.restoreAllMocks();
  cuda.close();
  roc.close();
});

async function run(block: DocBlock): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
    lines.push(format(...values));
  });
  try {
    await import(pathToFileURL(files.get(block) ?? '').href);
  } catch (error) {
    if (!block.mayThrow || !(error instanceof Error)) throw error;
    lines.push(error.message);
  }
  vi.restoreAllMocks();
  return squeeze(lines.join('\n'));
}

const toRun = blocks.filter((block) => block.run);

describe.each([...new Set(toRun.map((block) => block.page))])('%s', (page) => {
  const here = toRun.filter((block) => block.page === page);
  it.each(here.map((block) => [block.line, block] as const))('line %i', async (_, block) => {
    const output = await run(block);
    let from = 0;
    for (const expected of block.prints) {
      const end = find(output, expected, from);
      if (end < 0) expect(output.slice(from), `after what was right, it printed`).toBe(squeeze(expected));
      from = end;
    }
  });
});

it.each([...pages(), 'FEATURES.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'])(
  'the links of %s lead somewhere',
  (page) => {
    expect(brokenLinks(ROOT, page)).toEqual([]);
  },
);

it.each([...pages(), 'FEATURES.md', 'CONTRIBUTING.md'])('the tables of %s have whole rows', (page) => {
  expect(brokenRows(ROOT, page)).toEqual([]);
});

it('a link that leads nowhere is found', () => {
  const at = join(ROOT, '.cache/links');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'a.md'), '# A `b`, c\n[ok](#a-b-c) [ok](a.md) [x](#d) [y](b.md)\n```md\n[z](c.md)\n```\n');
  expect(brokenLinks(at, 'a.md')).toEqual(['a.md: #d: a.md has no heading #d', 'a.md: b.md: there is no b.md']);
});

it('a row with a cell too many is found', () => {
  const at = join(ROOT, '.cache/rows');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'b.md'), '| a | b |\n|---|---|\n| `x \\| y` | 1 |\n| 2 | 3 | 4 |\n\n| c |\n|---|\n| 5 |\n');
  expect(brokenRows(at, 'b.md')).toEqual(['b.md: | 2 | 3 | 4 |']);
});

it('every page of docs is linked to by another', () => {
  const text = pages().map((page) => [page, readFileSync(join(ROOT, page), 'utf8')] as const);
  const unlinked = pages().filter((page) => {
    const name = page.split('/').at(-1);
    return page !== 'README.md' && !text.some(([other, links]) => other !== page && links.includes(String(name)));
  });
  expect(unlinked).toEqual([]);
});

it('compiles strictly', async () => {
  const config = join(folder, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        // As `tsc --init` has it, and readers may write parameter properties and enums.
        isolatedDeclarations: false,
        skipLibCheck: true,
        erasableSyntaxOnly: false,
        // What has not changed since the last run is not checked again.
        incremental: true,
        tsBuildInfoFile: '../types/docs.json',
      },
      include: ['*.ts'],
      exclude: [],
    }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', config, '--pretty', 'false'], {
    cwd: ROOT,
  }).catch((error: { stdout: string }) => error);
  // Errors in the sources themselves are for `npm run check` to report.
  const errors = stdout.split('\n').filter((line) => /^(\.cache[\\/]docs|error)/.test(line));
  expect(errors).toEqual([]);
}, 180_000);
