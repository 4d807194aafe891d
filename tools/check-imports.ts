/**
 * Keeps the house in order: imports point down the layers, files stay short and say what they are for. Imports form no cycles, not
 * even of types alone and not among tests and tools: what needs each other's types is one thing, or lacks a third below both.
 *
 * Layers, bottom to top, are those of the architecture: a folder may import from its own line and from any line above it here.
 * Run by `npm run check`; prints each violation and exits with 1 when there is one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { transformSync } from 'esbuild';

const ROOT = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '..');
const MAX_LINES = 600;
const MAX_MEDIAN = 250;

/** Each line may import from itself and the lines before it. */
const LAYERS: readonly (readonly string[])[] = [
  [
    'src/errors.ts',
    'src/guarded.ts',
    'src/options.ts',
    'src/required.testing.ts',
    'src/environment.ts',
    'src/host',
    'src/on-demand.ts',
    'src/show.ts',
    'src/trace.ts',
    'src/trace.page.ts',
    'src/show-time.ts',
  ],
  ['src/dtype', 'src/layout'],
  [
    'src/compiler/source.ts',
    'src/compiler/intrinsics.ts',
    'src/compiler/intrinsics',
    'src/compiler/ir',
    'src/compiler/types',
    'src/compiler/contract.ts',
    'src/compiler/elements.ts',
    'src/compiler/math',
  ],
  [
    'src/compiler/frontend',
    'src/compiler/compile.ts',
    'src/compiler/compiling.ts',
    'src/compiler/front.ts',
    'src/compiler/front.page.ts',
    'src/compiler/testing.ts',
  ],
  ['src/compiler/render'],
  ['src/driver/driver.ts', 'src/ffi'],
  ['src/driver'],
  ['src/profile'],
  ['src/memory', 'src/stream'],
  ['src/array'],
  ['src/kernel'],
  ['src/random', 'src/reduce', 'src/graph'],
  ['src/ufunc'],
  ['src/matmul', 'src/fuse'],
  ['src/parallel'],
  ['src/nccl'],
  ['src/cuda'],
  ['src/roc'],
  ['src/plugins'],
  ['src/index.ts'],
  ['src/cli'],
  ['testsuite'],
];

/** Where only cycles are looked for. */
const OTHERS: readonly string[] = ['test', 'bench', 'examples', 'tools'];

/** What the conformance suite may import beside its own files: it sees what a user sees. */
const OPEN_TO_SUITE: readonly string[] = [
  'src/index.ts',
  'src/cuda/index.ts',
  'src/parallel/index.ts',
  'src/nccl/index.ts',
  // What this entry adds for those who test drivers.
  'src/memory/with-faults.ts',
  // Tests run one after another, as no program does that others can rely on.
  'src/memory/scope.ts',
];

/** What Node.js has and pages have not, as globals. */
const NODE_GLOBALS = ['process', 'Buffer', 'setImmediate', 'clearImmediate', 'require', '__dirname'];

/** Where they may be used: what is loaded only beside a library of the system, and the folder that all others ask. */
const NODE_ONLY = /^src\/(?:cli|host|ffi|plugins|driver\/(?:nvidia|hip|opencl|cuda-api))\/|(?:\.test|[./]testing)\.ts$/;

/** Where modules may be loaded on demand. Elsewhere a program could no longer be bundled into one file. */
const ON_DEMAND = /\.page\.ts$|\.test\.ts$|^testsuite\//;

/** Folders that a folder must not know although they are below it. */
const FORBIDDEN: readonly (readonly [from: string, to: string, why: string])[] = [
  ['src/compiler', 'src/driver', 'the compiler knows no driver'],
  ['src/kernel', 'src/compiler/render', 'only drivers render'],
  ['src/cuda', 'src/compiler/render', 'only drivers render'],
  ['src/roc', 'src/compiler/render', 'only drivers render'],
  ['src/driver/hip', 'src/driver/nvidia', 'HIP is not an NVIDIA: what both need is in driver/cuda-api'],
  ['src/driver/cuda-api', 'src/driver/nvidia', 'it serves other platforms as well'],
  ['src/driver/cuda-api', 'src/driver/hip', 'it serves other platforms as well'],
];

function files(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((e) => {
    const path = `${folder}/${e.name}`;
    if (e.name === 'node_modules') return [];
    return e.isDirectory() ? files(path) : path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
  });
}

/** The files that a file imports by relative paths, be it for types only, by `import(…)` or by `typeof import(…)`. */
function importsOf(file: string, text: string): string[] {
  const found = text.matchAll(/(?:^(?:import|export)\s(?:[^'"]*?\sfrom\s+)?|\bimport\(\s*)['"](\.[^'"]+\.ts)['"]/gm);
  return Array.from(found, ([, specifier = '']) => normalize(join(dirname(file), specifier)));
}

/** The globals of Node.js that a file uses, not merely names as types, in texts or as variables of its own. */
function nodeGlobals(text: string): string[] {
  if (!NODE_GLOBALS.some((name) => text.includes(name))) return [];
  const marks = NODE_GLOBALS.flatMap((name) => [name, `globalThis.${name}`].map((use) => [use, `MARK_${name}`]));
  const { code } = transformSync(text, { loader: 'ts', define: Object.fromEntries(marks) });
  return NODE_GLOBALS.filter((name) => code.includes(`MARK_${name}`));
}

function layerOf(file: string): number {
  let best = -1;
  let length = 0;
  LAYERS.forEach((layer, k) => {
    for (const prefix of layer) {
      if ((file === prefix || file.startsWith(`${prefix}/`)) && prefix.length > length) {
        best = k;
        length = prefix.length;
      }
    }
  });
  return best;
}

const problems: string[] = [];
for (const prefix of LAYERS.flat())
  if (!existsSync(join(ROOT, prefix))) problems.push(`${prefix}: a layer that is not there`);
const sources = [...files('src'), ...files('testsuite')];
const imports = new Map<string, readonly string[]>();

for (const file of sources) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const lines = text.split('\n').length - 1;
  if (lines > MAX_LINES) problems.push(`${file}: ${lines} lines (at most ${MAX_LINES})`);
  if (!file.endsWith('.test.ts') && !/^(#!.*\n)?(\/\/\/.*\n)*\/\*\*/.test(text))
    problems.push(`${file}: no header comment that says what the file is for`);
  // Bundlers run in Node.js, and no page loads their plugins.
  if (!/\.(?:test|testing)\.ts$|^src\/plugins\//.test(file) && /^import (?!type\s)[^'"]*['"]node:/m.test(text))
    problems.push(`${file}: imports a node: module, which keeps the library out of pages; ask src/host for it`);
  if (file.startsWith('src/') && !NODE_ONLY.test(file))
    for (const name of nodeGlobals(text)) problems.push(`${file}: uses ${name} of Node.js; ask src/host for it`);
  if (!ON_DEMAND.test(file) && /^(?!\s*(?:\*|\/[/*])).*(?<!typeof )(?<![:<] ?)\bimport\(\s*['"]/m.test(text))
    problems.push(`${file}: imports by import(…), which only halves for pages may: bundlers make several files of it`);
  const targets = importsOf(file, text);
  imports.set(file, targets);
  if (file.endsWith('.test.ts')) continue;
  const from = layerOf(file);
  if (from < 0) problems.push(`${file}: belongs to no layer; add it to tools/check-imports.ts`);
  for (const target of targets) {
    if (layerOf(target) > from) problems.push(`${file} imports ${target}: imports point down only`);
    for (const [a, b, why] of FORBIDDEN) {
      if (file.startsWith(`${a}/`) && target.startsWith(`${b}/`)) problems.push(`${file} imports ${target}: ${why}`);
    }
  }
}
for (const file of OTHERS.flatMap(files)) imports.set(file, importsOf(file, readFileSync(join(ROOT, file), 'utf8')));

for (const file of sources.filter((f) => f.startsWith('testsuite/'))) {
  for (const target of imports.get(file) ?? []) {
    if (!target.startsWith('testsuite/') && !OPEN_TO_SUITE.includes(target))
      problems.push(`${file} imports ${target}: the conformance suite imports public entries only`);
  }
}

const state = new Map<string, 'open' | 'done'>();
function findCycle(file: string, path: readonly string[]): void {
  if (state.get(file) === 'done') return;
  if (state.get(file) === 'open') {
    problems.push(`import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    return;
  }
  state.set(file, 'open');
  for (const target of imports.get(file) ?? []) if (imports.has(target)) findCycle(target, [...path, file]);
  state.set(file, 'done');
}
for (const file of imports.keys()) findCycle(file, []);

const lengths = sources
  .filter((f) => !f.endsWith('.test.ts'))
  .map((f) => readFileSync(join(ROOT, f), 'utf8').split('\n').length - 1)
  .sort((a, b) => a - b);
const median = lengths[lengths.length >> 1] ?? 0;
if (median > MAX_MEDIAN) problems.push(`the median file has ${median} lines (at most ${MAX_MEDIAN})`);

for (const p of problems) console.error(p);
console.log(
  `${sources.length} files, median ${median} lines, longest ${lengths.at(-1) ?? 0}; ${problems.length} problem${problems.length === 1 ? '' : 's'}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
