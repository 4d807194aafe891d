/**
 * The loader behind the plugins for webpack and Rspack, which also stands by itself in rules: `{ enforce: 'post', loader: 'tsamba/webpack-loader' }`,
 * and for Turbopack, which hands files over with their types.
 */
import { dirname } from 'node:path';
import { readMap } from './mappings.ts';
import { knownMembers, mayUseMembers, type Resolved } from './members.ts';
import { isWanted, nameFor, type PluginOptions, pathOf, tryTransform } from './plugin.ts';
import { chainedMap, ownMap } from './transform.ts';
import { NO_TYPESCRIPT, typesOut } from './types-out.ts';

/** What is used of a loader's context. */
export interface LoaderContext {
  /** The absolute path of the module. */
  readonly resourcePath: string;
  /** The folder of the project, which names of files in errors are relative to. */
  readonly rootContext?: string;
  /** The compiler that runs the loader. Turbopack gives none: it leaves nothing out of what it builds for browsers. */
  readonly _compiler?: { readonly options: { readonly externals?: unknown } };
  /** A function that tells what an import leads to. */
  getResolve?(options: { dependencyType: 'esm' }): (folder: string, source: string) => Promise<string>;
  /** The loader gives its result later. */
  async?(): unknown;
  /** The options that the rule of the bundler's configuration gives the loader. */
  getOptions(): PluginOptions;
  /** Shows a warning with the module's name; the build goes on. */
  emitWarning(warning: Error): void;
  /** Called once with the module's new text and its source map, or with an error. */
  callback(error: Error | null, code?: string, map?: unknown): void;
}

/** Transforms one module. */
export default function loader(this: LoaderContext, code: string, map?: unknown): void {
  const options = this.getOptions();
  const path = this.resourcePath;
  const root = options.root ?? this.rootContext;
  if (!isWanted(path, options)) return this.callback(null, code, map);
  // A bundler whose own compiler comes later gives no map, and the file as it was written.
  const plain = map === undefined || map === null ? typesOut(code, path, root) : undefined;
  const given = plain?.map ?? (typeof map === 'string' ? (JSON.parse(map) as unknown) : map);
  const text = plain?.code ?? code;
  const lines = readMap(given);
  // Without a map a file of JavaScript is taken for what was written.
  const origin = lines ?? (plain !== undefined || /\.[cm]?js$/.test(path) ? 'itself' : undefined);
  const finish = (members?: ReadonlySet<string>): void => {
    const made = tryTransform(text, { file: nameFor(path, root), origin, members }, (message) =>
      this.emitWarning(
        new Error(plain === undefined && /\.[jt]sx?$/.test(path) ? `${message}; ${NO_TYPESCRIPT}` : message),
      ),
    );
    if (made === undefined) return this.callback(null, code, map);
    const chained =
      lines === undefined
        ? { ...ownMap(text, made), sources: [path], sourcesContent: [text] }
        : chainedMap(given as Parameters<typeof chainedMap>[0], lines, made);
    this.callback(null, made.code, chained);
  };
  const resolve = resolverOf(this);
  if (resolve === undefined || !mayUseMembers(text)) return finish();
  this.async?.();
  knownMembers(resolve).then(finish, (error: Error) => this.callback(error));
}

/** What tells where imports lead; undefined where a compiler does not, or may leave the library out of its bundle. */
function resolverOf(context: LoaderContext): ((source: string) => Promise<Resolved | undefined>) | undefined {
  const { _compiler, getResolve } = context;
  if (getResolve === undefined || mayLeaveOut(_compiler?.options.externals)) return undefined;
  const resolve = getResolve.call(context, { dependencyType: 'esm' });
  return async (source) => {
    const path = await resolve(dirname(context.resourcePath), source).catch(() => undefined);
    return typeof path === 'string' ? { path: pathOf(path), external: false } : undefined;
  };
}

/** Whether a build may leave the library out of its bundle: as what is written says, or as a function might. */
function mayLeaveOut(externals: unknown): boolean {
  if (externals === undefined || externals === null) return false;
  if (Array.isArray(externals)) return externals.some(mayLeaveOut);
  const names = ['tsamba', 'tsamba/cuda'];
  if (typeof externals === 'string') return names.includes(externals);
  if (externals instanceof RegExp) return names.some((name) => name.search(externals) >= 0);
  if (typeof externals !== 'object') return true;
  // In layers of webpack, objects have other objects, and functions.
  return Object.entries(externals).some(([name, value]) =>
    name === 'byLayer' || typeof value === 'function' ? true : names.includes(name) && value !== false,
  );
}
