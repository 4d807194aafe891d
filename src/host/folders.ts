/**
 * Folders, made without Node.js's own `recursive`, which tries for ever where a parent is there and takes none, as /proc does.
 */
import { nodeModule } from './index.ts';

/** Makes a folder and those that it is in, where they are not there. Throws what the system says. */
export function makeFolder(folder: string, mode = 0o777): void {
  const { existsSync, mkdirSync } = nodeModule('node:fs');
  const { dirname } = nodeModule('node:path');
  const missing: string[] = [];
  for (let at = folder; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another process was quicker.
      if ((error as { readonly code?: unknown }).code !== 'EEXIST') throw error;
    }
  }
}
