/** What an editor shows: every name that it offers after `cuda.`, `roc.` and their parts comes with documentation. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';
import { describe, expect, it } from 'vitest';

const FILE = fileURLToPath(new URL('./editor-sample.ts', import.meta.url));
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

const service = ts.createLanguageService({
  getScriptFileNames: () => [FILE],
  getScriptVersion: () => '1',
  getScriptSnapshot: (name) => {
    const text = name === FILE ? TEXT : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => fileURLToPath(new URL('..', import.meta.url)),
  getCompilationSettings: () => ({
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    types: ['node'],
  }),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

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
