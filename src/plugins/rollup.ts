/**
 * The plugin for Rollup: `plugins: [typescript(), tsamba()]`. It looks at modules when all other plugins are through with them.
 */
import { readMap } from './mappings.ts';
import { knownMembers, mayUseMembers } from './members.ts';
import { checkPluginOptions, isWanted, nameFor, type PluginOptions, pathOf, tryTransform } from './plugin.ts';
import { ownMap } from './transform.ts';

export type { FilePattern, PluginOptions } from './plugin.ts';

/** What a bundler of Rollup's kind gives plugins at a module. */
export interface ModuleContext {
  /** The source map of what other plugins have done before. */
  getCombinedSourcemap?(): unknown;
  /** What an import leads to. */
  resolve?(source: string, importer?: string): Promise<{ readonly id: string; readonly external: unknown } | null>;
  /** Prints a warning. */
  warn(message: string): void;
}

/** What becomes of a module. */
export interface ModuleResult {
  /** The code of the module. */
  code: string;
  /** Its source map. */
  map: { version: 3; sources: string[]; names: string[]; mappings: string };
}

/** A plugin as Rollup has them. */
export interface RollupPlugin {
  /** `'tsamba'`. */
  name: string;
  /** Called for each module, after other plugins. */
  transform: {
    /** After the plugins that take out types. */
    order: 'post';
    /** Transforms a module; undefined leaves it as it is. */
    handler(
      this: ModuleContext,
      code: string,
      id: string,
    ): ModuleResult | undefined | Promise<ModuleResult | undefined>;
  };
}

/** Makes kernels readable in pages, in Bun and Deno, and in minified code; errors point into your own files. */
export default function tsamba(options?: PluginOptions): RollupPlugin {
  const checked = checkPluginOptions(options);
  return {
    name: 'tsamba',
    transform: {
      order: 'post',
      handler(code, id) {
        if (!isWanted(id, checked)) return undefined;
        const options = { file: nameFor(id, checked.root), origin: readMap(this.getCombinedSourcemap?.()) };
        return withMembers(this, code, id, (members) => {
          const made = tryTransform(code, { ...options, members }, (message) => this.warn(message));
          return made && { code: made.code, map: ownMap(code, made) as ModuleResult['map'] };
        });
      },
    },
  };
}

/** What `make` gives for a module, with the members of `cuda` where it may import those. */
export function withMembers<R>(
  context: Pick<ModuleContext, 'resolve'>,
  code: string,
  id: string,
  make: (members: ReadonlySet<string> | undefined) => R,
): R | Promise<R> {
  if (context.resolve === undefined || !mayUseMembers(code)) return make(undefined);
  const members = knownMembers(async (source) => {
    const found = await context.resolve?.(source, id);
    return found == null ? undefined : { path: pathOf(found.id), external: Boolean(found.external) };
  });
  return members.then(make);
}
