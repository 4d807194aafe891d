/**
 * Takes types and JSX out of a module that a bundler hands over as it was written, as Turbopack does: its own compiler comes after the loaders.
 *
 * The compiler for that is the project's TypeScript, which every project with such files has; Node.js 22.13 or newer does it for files without JSX.
 */
import { readFileSync } from 'node:fs';
import * as nodeModules from 'node:module';
import { join } from 'node:path';
import type { RawMap } from './mappings.ts';
import { mayMatter } from './transform.ts';

/** What is used of TypeScript 5 and 6. */
interface TypeScript {
  readonly transpileModule?: (
    code: string,
    options: { readonly fileName: string; readonly compilerOptions: Readonly<Record<string, unknown>> },
  ) => { readonly outputText: string; readonly sourceMapText?: string };
}

/** JavaScript, and how it leads to the text; without a map every place is where it was. */
export interface Plain {
  readonly code: string;
  readonly map: RawMap | undefined;
}

/** The module as JavaScript; undefined where the text is not the file's own, or nothing here can take its types out. */
export function typesOut(code: string, path: string, root: string | undefined): Plain | undefined {
  if (!/\.(?:[cm]?tsx?|jsx)$/.test(path) || !mayMatter(code) || !isAsWritten(code, path)) return undefined;
  return byTypeScript(code, path, root) ?? byNode(code, path);
}

/** What to say where types are left. */
export const NO_TYPESCRIPT: string =
  'to take types and JSX out of files the plugin uses the TypeScript of the project: npm install --save-dev typescript@5';

function isAsWritten(code: string, path: string): boolean {
  try {
    return readFileSync(path, 'utf8') === code;
  } catch {
    return false;
  }
}

function byTypeScript(code: string, path: string, root = process.cwd()): Plain | undefined {
  let typescript: TypeScript;
  try {
    typescript = nodeModules.createRequire(join(root, 'package.json'))('typescript') as TypeScript;
  } catch {
    return undefined;
  }
  // ESNext, as it was written but for the types; imports are not guessed to be of types alone where they say nothing.
  const compilerOptions = { target: 99, module: 99, jsx: 4, sourceMap: true, verbatimModuleSyntax: false };
  const made = typescript.transpileModule?.(code, { fileName: path, compilerOptions });
  if (made?.sourceMapText === undefined) return undefined;
  const map = JSON.parse(made.sourceMapText) as RawMap;
  return {
    code: made.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'),
    map: { ...map, sources: [path], sourcesContent: [code] },
  };
}

function byNode(code: string, path: string): Plain | undefined {
  const { stripTypeScriptTypes } = nodeModules as { readonly stripTypeScriptTypes?: (text: string) => string };
  if (stripTypeScriptTypes === undefined || /x$/.test(path)) return undefined;
  try {
    return { code: stripTypeScriptTypes(code), map: undefined };
  } catch {
    return undefined;
  }
}
