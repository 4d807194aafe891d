/**
 * The C beside the kernels: finds compilers, makes `bench/peers/c` into a shared library for each set of options, and calls the
 * functions through koffi, on the arrays that plain JavaScript works on.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostArray } from './case.ts';

const SOURCES = fileURLToPath(new URL('../peers/c/', import.meta.url));

/** SSE 4.2 is the class of WebAssembly's SIMD: vectors of 128 bits. */
const VARIANTS = [
  { id: 'gcc', compiler: 'gcc', options: ['-msse4.2'] },
  { id: 'clang', compiler: 'clang', options: ['-msse4.2'] },
  { id: 'gcc-native', compiler: 'gcc', options: ['-march=native'] },
  { id: 'clang-native', compiler: 'clang', options: ['-march=native'] },
  { id: 'openmp', compiler: 'gcc', options: ['-msse4.2', '-fopenmp'] },
] as const;

/** Distributions that keep several versions name them with a number. */
const NAMES = {
  gcc: ['gcc'],
  clang: ['clang', ...Array.from({ length: 10 }, (_, k) => `clang-${23 - k}`)],
} as const;

export interface Compiled {
  /** Paths of the libraries by variant. */
  readonly libraries: Readonly<Record<string, string>>;
  /** What the compilers call themselves. */
  readonly versions: Readonly<Record<string, string>>;
  /** Compilers that are not there. */
  readonly missing: readonly string[];
}

function find(names: readonly string[]): { readonly name: string; readonly version: string } | undefined {
  for (const name of names) {
    const { status, stdout } = spawnSync(name, ['--version'], { encoding: 'utf8' });
    if (status === 0) return { name, version: stdout.split('\n')[0] };
  }
  return undefined;
}

/** Libraries are kept in the folder for temporary files: the same sources and options are compiled once. */
export function compile(): Compiled {
  const files = readdirSync(SOURCES).filter((f) => f.endsWith('.c'));
  const libraries: Record<string, string> = {};
  const versions: Record<string, string> = {};
  const missing: string[] = [];
  for (const compiler of ['gcc', 'clang'] as const) {
    const found = find(NAMES[compiler]);
    if (found === undefined) {
      missing.push(compiler);
      continue;
    }
    versions[compiler] = found.version;
    for (const { id, options } of VARIANTS.filter((v) => v.compiler === compiler)) {
      const args = ['-O3', ...options, '-shared', '-fPIC', ...files, '-lm'];
      const key = createHash('sha256').update([found.version, ...args].join(' '));
      for (const f of files) key.update(readFileSync(join(SOURCES, f)));
      const folder = join(tmpdir(), `tsamba-bench-${key.digest('hex').slice(0, 16)}`);
      const path = join(folder, `${id}.so`);
      if (!existsSync(path)) {
        mkdirSync(folder, { recursive: true });
        execFileSync(found.name, [...args, '-o', path], { cwd: SOURCES, stdio: ['ignore', 'ignore', 'inherit'] });
      }
      libraries[id] = path;
    }
  }
  return { libraries, versions, missing };
}

type Call = (...args: (number | HostArray)[]) => number;

/** All functions of a library by name. */
export function load(path: string): Readonly<Record<string, Call>> {
  const koffi = createRequire(import.meta.url)('koffi') as {
    load(path: string): { func(prototype: string): Call };
  };
  const library = koffi.load(path);
  const functions: Record<string, Call> = {};
  for (const file of readdirSync(SOURCES).filter((f) => f.endsWith('.c'))) {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    for (const [, result, name, parameters] of text.matchAll(/^(void|double) (\w+)\(([^)]*)\) \{/gm)) {
      functions[name] = library.func(`${result} ${name}(${parameters.replace(/\b(const|restrict)\b/g, '')})`);
    }
  }
  return functions;
}
