/**
 * Where an optional package lies: found at run time, as Node.js finds a package, from the files that can be known to lie beside it.
 *
 * Bundlers must not follow it: koffi and webgpu are native addons. So nothing here looks like an import to them. A bundle may have left
 * the folder of the library, or have no `import.meta.url` (CommonJS): then the program's main file and its executable are asked too.
 */
import { findNodeModule } from '../host/index.ts';

/** A package's main file. Throws, as `require` does, where it is not installed. */
export function packagePath(name: string): string {
  const createRequire = findNodeModule('node:module')?.createRequire;
  if (createRequire === undefined) throw new Error('this runtime loads no native addons');
  let first: unknown;
  for (const file of startingPoints()) {
    try {
      return createRequire(file).resolve(name);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/** Loads koffi. Throws where it is not installed or may not be loaded. */
export function requireKoffi(): unknown {
  const path = packagePath('koffi');
  return findNodeModule('node:module')?.createRequire(path)(path);
}

/** This file, or the bundle that it is in; the main file; the executable, beside which single-executable applications look. */
function startingPoints(): string[] {
  const { argv = [], execPath } = globalThis.process ?? {};
  const own: string | undefined = import.meta.url;
  const bundle = typeof __filename === 'string' ? __filename : undefined;
  return [own, bundle, argv[1], execPath].filter((file): file is string => file !== undefined && file !== '');
}
