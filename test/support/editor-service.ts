/** The language service of TypeScript, as an editor runs it, over one file that is not on disk. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Editor {
  readonly file: string;
  readonly service: ts.LanguageService;
}

/** An editor with a file of this text in the folder `test`. */
export function openEditor(text: string): Editor {
  const file = fileURLToPath(new URL('../editor-sample.ts', import.meta.url));
  const service = ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const read = name === file ? text : ts.sys.readFile(name);
      return read === undefined ? undefined : ts.ScriptSnapshot.fromString(read);
    },
    getCurrentDirectory: () => root,
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
  return { file, service };
}

/** What an editor shows where the pointer rests. */
export interface Hover {
  readonly documentation: string;
  /** The code of `@example`; empty where there is none. */
  readonly example: string;
}

/** What is shown at a place of the text. */
export function hoverAt({ file, service }: Editor, at: number): Hover {
  const info = service.getQuickInfoAtPosition(file, at);
  const tag = info?.tags?.find(({ name }) => name === 'example');
  return {
    documentation: ts.displayPartsToString(info?.documentation).trim(),
    example: ts.displayPartsToString(tag?.text).trim(),
  };
}

/** The members of a namespace and of the objects in it: `cuda.grid`, `cuda.atomic.add`. */
export function pathsOf(space: object, name: string): string[] {
  return Object.entries(space).flatMap(([key, value]) => {
    const path = `${name}.${key}`;
    return isGroup(value) ? [path, ...pathsOf(value, path)] : [path];
  });
}

/** Whether a value is an object that functions are grouped by. */
function isGroup(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  const members = Object.values(Object.getOwnPropertyDescriptors(value));
  return members.length > 0 && members.every((member) => typeof member.value === 'function');
}
