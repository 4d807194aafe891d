/**
 * The code blocks of the Markdown pages: which there are, what each is expected to print, and how they become files.
 *
 * What a block prints is stated in it: `console.log(x); // 3`, or on lines of their own, `// → 3`, that go on with `//   `. A
 * `text` block that follows stands for more output, and for the message of the error that the block ends with. `…` stands for
 * anything, and runs of white space for one space. A block marked `ts no-run` is type-checked only.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DocBlock {
  /** `docs/kernels.md`. */
  readonly page: string;
  /** 1-based line of the first line of code. */
  readonly line: number;
  readonly code: string;
  readonly run: boolean;
  /** What it prints, in this order; there may be more in between. */
  readonly prints: readonly string[];
  /** Whether a `text` block follows, which may hold the message of an error. */
  readonly mayThrow: boolean;
}

export const ROOT: string = join(import.meta.dirname, '../..');

/** README.md and all pages of docs, with its folders. */
export function pages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.sort().map((name) => `docs/${name}`)];
}

/** The TypeScript blocks of a page. */
export function blocksOf(page: string): DocBlock[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const blocks: DocBlock[] = [];
  let last: { block: DocBlock; end: number } | undefined;
  for (let at = 0; at < lines.length; at++) {
    const fence = /^```(\w*)(.*)$/.exec(lines[at]);
    if (fence === null) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`${page}:${at + 1}: this block has no end`);
    const code = lines.slice(at + 1, end).join('\n');
    const [, language, words] = fence;
    if (language === 'ts') {
      const run = !words.includes('no-run');
      const block = { page, line: at + 2, code, run, prints: run ? printsOf(code) : [], mayThrow: false };
      blocks.push(block);
      last = { block, end };
    } else if (language === 'text' && last !== undefined && lines.slice(last.end + 1, at).every((l) => l === '')) {
      blocks.pop();
      blocks.push({ ...last.block, prints: [...last.block.prints, code], mayThrow: true });
      last = undefined;
    }
    at = end;
  }
  return blocks;
}

/** What code says that it prints. */
export function printsOf(code: string): string[] {
  const prints: string[] = [];
  let open = false;
  for (const line of code.split('\n')) {
    const stated = /console\.log\(.*\);? +\/\/ (?:→ )?(.*)$/.exec(line) ?? /^ *\/\/ → (.*)$/.exec(line);
    const more: RegExpExecArray | null = open ? /^ *\/\/ {3}(.*)$/.exec(line) : null;
    if (stated !== null) prints.push(stated[1]);
    else if (more !== null) prints.push(`${prints.pop()}\n${more[1]}`);
    open = stated !== null || more !== null;
  }
  return prints;
}

/** Writes the blocks to files that import the sources, and gives the file of each. Whatever was in the folder is gone. */
export function writeBlocks(blocks: readonly DocBlock[], folder: string): Map<DocBlock, string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = new Map<DocBlock, string>();
  for (const block of blocks) {
    const name = block.page
      .replace(/^docs\//, '')
      .replace(/\.md$/, '')
      .replaceAll('/', '-');
    const file = join(folder, `${name}-${block.line}.ts`);
    writeFileSync(file, `${toSources(block.code)}\nexport {};\n`);
    files.set(block, file);
  }
  return files;
}

function toSources(code: string): string {
  const entries: Readonly<Record<string, string>> = {
    '': 'src/index.ts',
    cuda: 'src/cuda/index.ts',
    roc: 'src/roc/index.ts',
    parallel: 'src/parallel/index.ts',
    nccl: 'src/nccl/index.ts',
    testsuite: 'testsuite/index.ts',
  };
  return code.replace(/from 'tsamba(?:\/(\w+))?'/g, (_, entry = '') => {
    const target = entries[entry];
    if (target === undefined) throw new Error(`there is no entry point tsamba/${entry}`);
    return `from '../../${target}'`;
  });
}

/** Where in `output` the text is found, `…` standing for anything: the end of the match, or -1. */
export function find(output: string, expected: string, from: number): number {
  const pattern = squeeze(expected)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
  const match = new RegExp(pattern).exec(output.slice(from));
  return match === null ? -1 : from + match.index + match[0].length;
}

export function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
