/**
 * How a program is started: JavaScript by this Node.js, TypeScript with tsx where the project has it, else by Node.js itself where that takes it.
 */
import { TsambaTypeError } from '../errors.ts';
import { nodeModule } from '../host/index.ts';

/** By what a TypeScript file would be run, for people. */
export function typescriptBy(path: string): string {
  if (tsxFor(path) !== undefined) return 'run by tsx, which the project has';
  if (process.versions['bun'] !== undefined || process.versions['deno'] !== undefined) return 'run by the runtime';
  const { typescript } = process.features as { readonly typescript?: unknown };
  return typescript
    ? 'run by Node.js, which strips the types'
    : 'cannot be run: npm install tsx, or use Node.js 22.18 or newer';
}

/** What to start, but for the program's own arguments. Throws TypeError where TypeScript cannot be run. */
export function programCommand(program: string): readonly string[] {
  const path = nodeModule('node:path').resolve(program);
  return [process.execPath, ...loaderOptions(path), path];
}

/** Options of Node.js with which it loads a file. Throws TypeError for a file that is not there, and where TypeScript cannot be loaded. */
export function loaderOptions(path: string): readonly string[] {
  if (!nodeModule('node:fs').existsSync(path)) throw new TsambaTypeError('E_OPTION', `there is no file ${path}`);
  if (!/\.[cm]?tsx?$/.test(path)) return [];
  const tsx = tsxFor(path);
  if (tsx !== undefined) return ['--import', tsx];
  if (process.versions['bun'] !== undefined || process.versions['deno'] !== undefined) return [];
  const { typescript } = process.features as { readonly typescript?: unknown };
  if (typescript) return [];
  throw new TsambaTypeError(
    'E_OPTION',
    `Node.js ${process.versions.node} cannot run TypeScript: npm install tsx, or use Node.js 22.18 or newer`,
  );
}

function tsxFor(path: string): string | undefined {
  const { createRequire } = nodeModule('node:module');
  try {
    return nodeModule('node:url').pathToFileURL(createRequire(path).resolve('tsx')).href;
  } catch {
    return undefined;
  }
}
