/**
 * What the plugins of all bundlers share: which files they look at, what they call them, and what they say of one that does not parse.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Transformed, type TransformOptions, transformModule } from './transform.ts';

/** Chooses files by their paths: a part of the path, an expression, or several of these. */
export type FilePattern = string | RegExp | readonly (string | RegExp)[];

/** Options of the plugins. */
export interface PluginOptions {
  /** Files beside the project's own: packages of `node_modules` with kernels, `include: /my-kernels/`. */
  readonly include?: FilePattern | undefined;
  /** Files to be left alone, whatever `include` says. */
  readonly exclude?: FilePattern | undefined;
  /** The folder that files are named relative to in messages. Default: the bundler's, else the working directory. */
  readonly root?: string | undefined;
}

/** Files that bundlers turn into JavaScript. */
export const SCRIPTS: RegExp = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/;

/** Checks options, and gives what the plugins ask of them. Throws TypeError. */
export function checkPluginOptions(options: PluginOptions | undefined): PluginOptions {
  if (options === undefined) return {};
  const unknown = Object.keys(options).find((key) => !['include', 'exclude', 'root'].includes(key));
  if (unknown !== undefined)
    throw new TypeError(`the plugin of tsamba has no option ${unknown}: it has include, exclude and root`);
  return options;
}

/** A path without what bundlers put behind it. */
export function pathOf(id: string): string {
  return id.replace(/[?#].*$/s, '');
}

/** Whether a file may have kernels. */
export function isWanted(id: string, { include, exclude }: PluginOptions): boolean {
  const path = pathOf(id).replaceAll('\\', '/');
  if (path.startsWith('\0') || !SCRIPTS.test(path) || matches(path, exclude)) return false;
  if (include !== undefined && matches(path, include)) return true;
  return !path.includes('/node_modules/') && !OWN.some((folder) => path.startsWith(folder));
}

function matches(path: string, pattern: FilePattern | undefined): boolean {
  if (pattern === undefined) return false;
  const all = Array.isArray(pattern) ? (pattern as readonly (string | RegExp)[]) : [pattern as string | RegExp];
  return all.some((one) => (typeof one === 'string' ? path.includes(one) : path.search(one) >= 0));
}

/** The folder of this package. The position of the file that runs is the one of a bundle of these files. */
export function packageFolder(): string {
  let folder = dirname(typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url));
  while (dirname(folder) !== folder && !isOurs(folder)) folder = dirname(folder);
  return folder;
}

function isOurs(folder: string): boolean {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string }).name === 'tsamba';
  } catch {
    return false;
  }
}

/** The library itself, which needs no plugin, where a project links to it. */
const OWN: readonly string[] = ['dist', 'src'].map((name) => `${join(packageFolder(), name).replaceAll('\\', '/')}/`);

/** What a file is called in messages. */
export function nameFor(id: string, root: string | undefined): string {
  const path = pathOf(id);
  const name = relative(root ?? process.cwd(), path);
  return (name.startsWith('..') ? path : name).split(sep).join('/');
}

/** As `transformModule`; a module that does not parse is left alone, and said so where it has to do with Tsamba. */
export function tryTransform(
  code: string,
  options: TransformOptions,
  warn: (message: string) => void,
): Transformed | undefined {
  try {
    return transformModule(code, options);
  } catch (error) {
    if (/\btsamba\b/.test(code)) {
      const why = error instanceof Error ? error.message : String(error);
      warn(
        `kernels in ${options.file} are left unchanged, because the file does not parse as JavaScript (${why}): ` +
          'put the plugin of tsamba after those that remove types and JSX',
      );
    }
    return undefined;
  }
}
