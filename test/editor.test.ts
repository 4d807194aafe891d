/**
 * What an editor shows: every name that it offers after `cuda.`, `roc.` and their parts comes with documentation, and those of the namespaces with an
 * example, which compiles as `tsc --init` has it and prints what it says; definitions are found in TypeScript.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import ts from 'typescript-5.9';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cuda, roc } from '../src/index.ts';
import { find, printsOf, ROOT, squeeze } from './support/doc-blocks.ts';
import { hoverAt, openEditor, pathsOf } from './support/editor-service.ts';

const PARTS = [
  'cuda',
  'cuda.atomic',
  'cuda.cg',
  'cuda.const',
  'cuda.local',
  'cuda.shared',
  'cuda.threadIdx',
  'cuda.trackLeaks()',
  'roc',
  'roc.atomic',
  'roc.shared',
];
const TEXT = `import { cuda, ndarray, roc } from '../src/index.ts';\n${PARTS.map((part) => `${part}.;\n`).join('')}`;

const editor = openEditor(TEXT);
const { file: FILE, service } = editor;

/** What every object and function has is documented elsewhere. */
const INHERITED = new Set([
  ...Object.getOwnPropertyNames(Function.prototype),
  ...Object.getOwnPropertyNames(Object.prototype),
]);

describe('completions in an editor', () => {
  it.each(PARTS)('%s. offers documented names only', (part) => {
    const at = TEXT.indexOf(`\n${part}.;\n`) + part.length + 2;
    const entries = service.getCompletionsAtPosition(FILE, at, {})?.entries ?? [];
    const own = entries.filter(({ name, kind }) => !INHERITED.has(name) && kind !== ts.ScriptElementKind.warning);
    expect(own.length).toBeGreaterThan(0);
    const bare = own.filter(({ name, source, data }) => {
      const details = service.getCompletionEntryDetails(FILE, at, name, {}, source, {}, data);
      return ts.displayPartsToString(details?.documentation).trim() === '';
    });
    expect(bare.map(({ name }) => name)).toEqual([]);
  });
});

const PATHS = [...pathsOf(cuda, 'cuda'), ...pathsOf(roc, 'roc')];
const HEADER = "import { cuda, ndarray, roc } from '../src/index.ts';\n";
const hovers = new Map(hoversOf(PATHS));

function hoversOf(paths: readonly string[]): [string, ReturnType<typeof hoverAt>][] {
  const text = `${HEADER}${paths.map((path) => `${path};\n`).join('')}`;
  const over = openEditor(text);
  return paths.map((path) => [path, hoverAt(over, text.indexOf(`\n${path};\n`) + path.length)]);
}

const folder = join(ROOT, '.cache/doc-comments');
// By number: names that differ in case alone are one name to some file systems.
const fileOf = (path: string): string => join(folder, `${PATHS.indexOf(path)}.ts`);
/** Members of both namespaces that are one and the same have one example. */
const DISTINCT = PATHS.filter((path, i) => PATHS.findIndex((other) => exampleOf(other) === exampleOf(path)) === i);

function exampleOf(path: string): string {
  return hovers.get(path)?.example ?? '';
}

const IMPORTED = `import {
  c64, cuda, f32, f32x4, f64, i32, i64, type In, type Mat, ndarray, roc, SmartArray, struct, u32, u64, u8, type Vec, type XoroshiroStates,
} from '../../src/index.ts';
`;

describe('examples where the pointer rests', () => {
  beforeAll(() => {
    process.env.TSAMBA_DEVICE = 'cpu';
    process.env.TSAMBA_ROC_DRIVER = 'cpu';
    process.env.TSAMBA_WARN_IMPLICIT_COPY = '0';
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const path of DISTINCT) writeFileSync(fileOf(path), `${IMPORTED}${exampleOf(path)}\nexport {};\n`);
  });
  // Devices stay open in between: opening one takes longer than an example.
  afterAll(() => {
    cuda.close();
    roc.close();
  });

  it('are there, with documentation', () => {
    expect(PATHS.length).toBeGreaterThan(200);
    const bare = [...hovers].filter(([, { documentation, example }]) => documentation === '' || example === '');
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  it.each(DISTINCT)('%s prints what it says', async (path) => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
      lines.push(format(...values));
    });
    await import(pathToFileURL(fileOf(path)).href);
    vi.restoreAllMocks();
    const output = squeeze(lines.join('\n'));
    for (const expected of printsOf(exampleOf(path))) {
      expect(find(output, expected, 0), `it printed ${output} instead of ${expected}`).toBeGreaterThanOrEqual(0);
    }
  });

  it('compile as tsc --init has it', () => {
    const config = join(folder, 'tsconfig.json');
    const compilerOptions = { isolatedDeclarations: false, skipLibCheck: true };
    writeFileSync(
      config,
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'], exclude: [] }),
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', config, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: ROOT,
    });
    // Errors in the sources themselves are for `npm run check` to report.
    expect(stdout.split('\n').filter((line) => /^(\.cache|error)/.test(line))).toEqual([]);
  }, 60_000);
});

it('finds definitions in the sources of the package that was built', () => {
  const names = ['cuda.deviceArray', 'cuda.atomic.add', 'cuda.popc', 'roc.jit', 'ndarray'];
  const text = `import { cuda, ndarray, roc } from 'tsamba';\n${names.map((name) => `${name};\n`).join('')}`;
  const user = openEditor(text);
  const mapper = (user.service as unknown as { getSourceMapper(): SourceMapper }).getSourceMapper();
  const found = names.map((name) => {
    const at = text.indexOf(`\n${name};\n`) + name.length;
    const [definition] = user.service.getDefinitionAtPosition(user.file, at) ?? [];
    const { fileName, textSpan } = definition ?? { fileName: '', textSpan: { start: 0 } };
    const source = mapper.tryGetSourcePosition({ fileName, pos: textSpan.start });
    const [word] = /^\w+/.exec(ts.sys.readFile(source?.fileName ?? '')?.slice(source?.pos) ?? '') ?? [];
    return [source?.fileName.replaceAll('\\', '/').split('/dist/')[1], word];
  });
  expect(found).toEqual([
    ['src/cuda/host.ts', 'deviceArray'],
    ['src/cuda/atomic.ts', 'add'],
    ['src/compiler/intrinsics/integers.ts', 'popc'],
    ['src/roc/host.ts', 'jit'],
    ['src/array/ndarray-create.ts', 'ndarray'],
  ]);
});

/** Of the service that editors run; not in its published types. */
interface SourceMapper {
  tryGetSourcePosition(place: {
    readonly fileName: string;
    readonly pos: number;
  }): { readonly fileName: string; readonly pos: number } | undefined;
}
