/**
 * The plugin for Vite: `plugins: [tsamba()]`. In development a kernel that is edited takes its new text where it is, in the running page: the module is not
 * loaded again, arrays and counters stay, and the next launch compiles.
 */
import { readMap } from './mappings.ts';
import { checkPluginOptions, isWanted, nameFor, type PluginOptions, tryTransform } from './plugin.ts';
import { type ModuleContext, type ModuleResult, withMembers } from './rollup.ts';
import { type LeftFunction, ownMap, type Transformed } from './transform.ts';

export type { FilePattern, PluginOptions } from './plugin.ts';
export type { ModuleContext, ModuleResult } from './rollup.ts';

/** What is used of an environment of Vite: the client, or a server's. */
export interface Environment {
  /** `'client'`, `'ssr'`, or a name of yours. */
  readonly name: string;
  /** The channel to the page. */
  readonly hot: { send(payload: { type: 'custom'; event: string; data?: unknown }): void };
  /** Transforms a module as if it was requested. */
  transformRequest(url: string): Promise<unknown>;
}

/** What is used of a module of Vite's graph. */
export interface ModuleNode {
  /** Path and query of the module; null if it has none. */
  readonly id: string | null;
  /** The URL that the page requests it by. */
  readonly url: string;
}

/** A plugin as Vite has them. */
export interface VitePlugin {
  /** `'tsamba'`. */
  name: string;
  /** After the plugins that take out types. */
  enforce: 'post';
  /** Called by Vite first: workers of the page are bundled with the plugin, and as ES modules, since Tsamba loads parts of itself when it needs them. */
  config(config: { readonly worker?: { readonly format?: 'es' | 'iife' | undefined } | undefined }): {
    readonly worker: { readonly format: 'es' | 'iife'; plugins(): VitePlugin[] };
  };
  /** Called by Vite once the configuration is known. */
  configResolved(config: { readonly root: string; readonly command: 'build' | 'serve' }): void;
  /** Called for each module; undefined leaves it as it is. */
  transform(
    this: ModuleContext & { environment?: unknown },
    code: string,
    id: string,
  ): ModuleResult | undefined | Promise<ModuleResult | undefined>;
  /** Called when a file was edited: replaces the text of kernels in the running page, where nothing else has changed. */
  hotUpdate(
    this: { environment: Environment },
    update: {
      readonly type: 'create' | 'update' | 'delete';
      readonly modules: readonly ModuleNode[];
      read(): string | Promise<string>;
    },
  ): Promise<never[] | undefined>;
}

/** Makes kernels readable in pages and in minified code; errors point into your own files, and edited kernels are replaced in the running page. */
export default function tsamba(options?: PluginOptions): VitePlugin {
  const checked = checkPluginOptions(options);
  let root = checked.root;
  let serves = false;
  const left = new Map<string, Transformed>();
  return {
    name: 'tsamba',
    enforce: 'post',
    config: ({ worker }) => ({ worker: { format: worker?.format ?? 'es', plugins: () => [tsamba(options)] } }),
    configResolved(config) {
      root ??= config.root;
      serves = config.command === 'serve';
    },
    transform(code, id) {
      if (!isWanted(id, checked)) return undefined;
      const origin = readMap(this.getCombinedSourcemap?.());
      const make = (members?: ReadonlySet<string>): ModuleResult | undefined => {
        const made = tryTransform(code, { file: nameFor(id, root), origin, hot: serves, members }, (message) =>
          this.warn(message),
        );
        if (serves) note(left, keyOf(this.environment, id), made);
        return made && { code: made.code, map: ownMap(code, made) as ModuleResult['map'] };
      };
      // A server bundles nothing.
      return serves ? make() : withMembers(this, code, id, make);
    },
    async hotUpdate({ type, modules, read }) {
      const { environment } = this;
      const before = modules.map(({ id }) => (id === null ? undefined : left.get(keyOf(environment, id))));
      if (type !== 'update' || modules.length === 0 || before.includes(undefined)) return undefined;
      try {
        // Waits for an editor that has emptied the file to write it.
        await read();
        for (const { url } of modules) await environment.transformRequest(url);
      } catch {
        return undefined; // Vite says what is wrong.
      }
      const after = modules.map(({ id }) => left.get(keyOf(environment, id as string)));
      if (!before.every((one, i) => differInKernels(one as Transformed, after[i]))) return undefined;
      for (const [i, { id }] of modules.entries()) {
        const functions = (after[i] as Transformed).functions.map(({ name, text, map }) => ({ name, text, map }));
        const data = { file: nameFor(id as string, root), functions };
        environment.hot.send({ type: 'custom', event: 'tsamba:functions', data });
      }
      return [];
    },
  };
}

function note(left: Map<string, Transformed>, key: string, made: Transformed | undefined): void {
  if (made === undefined) left.delete(key);
  else left.set(key, made);
}

function keyOf(environment: unknown, id: string): string {
  return `${(environment as Environment | undefined)?.name ?? ''}\0${id}`;
}

/** Whether all that has changed is what stands in functions that the host cannot call; what they take from outside must be what it was. */
function differInKernels(before: Transformed, after: Transformed | undefined): boolean {
  if (after === undefined) return false;
  if (before.skeleton !== after.skeleton || before.functions.length !== after.functions.length) return false;
  const changed = before.functions.filter((one, i) => one.text !== after.functions[i]?.text);
  return changed.length > 0 && changed.every((one: LeftFunction) => one.argument);
}
