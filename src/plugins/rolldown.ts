/**
 * The plugin for Rolldown: `plugins: [tsamba()]`. Rolldown takes types and JSX out of modules after all plugins; this one has them taken out before.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readMap, write } from './mappings.ts';
import { checkPluginOptions, isWanted, nameFor, type PluginOptions, pathOf, tryTransform } from './plugin.ts';
import { type ModuleContext, type ModuleResult, withMembers } from './rollup.ts';
import { ownMap } from './transform.ts';

export type { FilePattern, PluginOptions } from './plugin.ts';
export type { ModuleContext, ModuleResult } from './rollup.ts';

/** A plugin as Rolldown has them. */
export interface RolldownPlugin {
  /** `'tsamba'`. */
  name: string;
  /** Called by Rolldown for each module; undefined leaves it as it is. */
  transform(this: ModuleContext, code: string, id: string): Promise<(ModuleResult & { moduleType?: 'js' }) | undefined>;
}

type Strip = (
  file: string,
  code: string,
  options: { sourcemap: true },
) => Promise<{ code: string; map?: unknown; errors: readonly { message: string }[] }>;

/** Makes kernels readable in pages, in Bun and Deno, and in minified code; errors point into your own files. */
export default function tsamba(options?: PluginOptions): RolldownPlugin {
  const checked = checkPluginOptions(options);
  return {
    name: 'tsamba',
    async transform(code, id) {
      const path = pathOf(id);
      if (!isWanted(id, checked)) return undefined;
      const file = nameFor(id, checked.root);
      const warn = (message: string): void => this.warn(message);
      if (!/x$|ts$/.test(path)) {
        const members = await withMembers(this, code, id, (known) => known);
        const made = tryTransform(code, { file, origin: 'itself', members }, warn);
        return made && { code: made.code, map: ownMap(code, made) as ModuleResult['map'] };
      }
      const stripped = await (await loadStrip())(path, code, { sourcemap: true });
      // Rolldown says what is wrong with it.
      if (stripped.errors.length > 0) return undefined;
      const origin = readMap(stripped.map);
      const members = await withMembers(this, stripped.code, id, (known) => known);
      const made = tryTransform(stripped.code, { file, origin, members }, warn);
      if (made === undefined) return undefined;
      const map = { version: 3 as const, sources: [''], names: [], mappings: write(made.mapTo(origin ?? [])) };
      return { code: made.code, map, moduleType: 'js' };
    },
  };
}

/** A module as the project has it, else as this package has. */
function locate(name: string): string {
  try {
    return pathToFileURL(createRequire(join(process.cwd(), 'config.js')).resolve(name)).href;
  } catch {
    return name;
  }
}

/** Rolldown's own, wherever this version of it has that. */
async function loadStrip(): Promise<Strip> {
  for (const name of ['rolldown/utils', 'rolldown/experimental']) {
    const found = (await import(locate(name)).catch(() => ({}))) as { transform?: Strip };
    if (typeof found.transform === 'function') return found.transform;
  }
  throw new Error(
    'tsamba: this version of Rolldown offers no transform, neither in rolldown/utils nor in rolldown/experimental',
  );
}
