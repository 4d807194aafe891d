/**
 * The plugin for esbuild: `plugins: [tsamba()]`. esbuild takes types and JSX out of each module by itself first, with the settings of the build.
 */
import { readFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { readMap } from './mappings.ts';
import { knownMembers, mayUseMembers, type Resolved } from './members.ts';
import { checkPluginOptions, isWanted, nameFor, type PluginOptions, SCRIPTS, tryTransform } from './plugin.ts';
import { chainedMap, mayMatter } from './transform.ts';

export type { FilePattern, PluginOptions } from './plugin.ts';

/** What is used of a build of esbuild. */
export interface EsbuildBuild {
  /** The options of the build. */
  readonly initialOptions: { readonly absWorkingDir?: string | undefined; readonly bundle?: boolean | undefined };
  /** esbuild itself. */
  readonly esbuild: {
    build(options: {
      readonly [setting: string]: unknown;
      entryPoints: string[];
    }): Promise<{ readonly outputFiles?: readonly { readonly path: string; readonly text: string }[] | undefined }>;
  };
  /** What an import leads to. */
  resolve(
    path: string,
    options: { readonly kind: 'import-statement'; readonly resolveDir: string; readonly importer?: string },
  ): Promise<{
    readonly path: string;
    readonly external: boolean;
    readonly namespace: string;
    readonly errors: readonly unknown[];
  }>;
  /** Registers what loads files. */
  onLoad(
    options: { filter: RegExp; namespace?: string },
    load: (args: {
      path: string;
    }) => Promise<
      | { contents: string; loader: 'js'; resolveDir: string; warnings: { text: string }[]; watchFiles: string[] }
      | undefined
    >,
  ): void;
}

/** A plugin as esbuild has them. */
export interface EsbuildPlugin {
  /** `'tsamba'`. */
  name: string;
  /** Called by esbuild when a build begins. */
  setup(build: EsbuildBuild): void;
}

/** Makes kernels readable in pages, in Bun and Deno, and in minified code; errors point into your own files. */
export default function tsamba(options?: PluginOptions): EsbuildPlugin {
  const checked = checkPluginOptions(options);
  return {
    name: 'tsamba',
    setup(build) {
      const root = checked.root ?? build.initialOptions.absWorkingDir;
      build.onLoad({ filter: SCRIPTS, namespace: 'file' }, async ({ path }) => {
        if (!isWanted(path, checked) || !mayMatter(await readFile(path, 'utf8'))) return undefined;
        const { code, map } = await plainModule(path, build);
        const origin = readMap(map);
        const warnings: { text: string }[] = [];
        const members = mayUseMembers(code) ? await knownMembers((source) => resolved(build, source, path)) : undefined;
        const options = { file: nameFor(path, root), origin, members };
        const made = tryTransform(code, options, (text) => warnings.push({ text }));
        if (made === undefined && warnings.length === 0) return undefined;
        const url =
          made && `//# sourceMappingURL=data:application/json;base64,${base64(chainedMap(map, origin ?? [], made))}\n`;
        const contents = made === undefined ? code : `${made.code}${url}`;
        return { contents, loader: 'js', resolveDir: dirname(path), warnings, watchFiles: [path] };
      });
    },
  };
}

async function resolved(build: EsbuildBuild, source: string, importer: string): Promise<Resolved | undefined> {
  // A file that is only transformed is not resolved from.
  if (build.initialOptions.bundle !== true) return undefined;
  const options = { kind: 'import-statement', resolveDir: dirname(importer), importer } as const;
  const { path, external, namespace, errors } = await build.resolve(source, options);
  return errors.length > 0 || namespace !== 'file' ? undefined : { path, external };
}

function base64(map: unknown): string {
  return Buffer.from(JSON.stringify(map)).toString('base64');
}

/** What of the settings of a build decides how one module is read. */
const READING = [
  ...['tsconfig', 'tsconfigRaw', 'loader', 'jsx', 'jsxDev', 'jsxFactory', 'jsxFragment', 'jsxImportSource'],
  ...['jsxSideEffects', 'absWorkingDir'],
];

/** A module without types and JSX, as esbuild itself takes them out, and where it comes from. */
async function plainModule(
  path: string,
  { esbuild, initialOptions }: EsbuildBuild,
): Promise<{ code: string; map: Parameters<typeof chainedMap>[0] }> {
  const settings = Object.fromEntries(Object.entries(initialOptions).filter(([key]) => READING.includes(key)));
  const { outputFiles = [] } = await esbuild.build({
    ...settings,
    entryPoints: [path],
    // Beside the file itself: the paths in the map are relative to that.
    outdir: dirname(path),
    ...{ bundle: false, write: false, sourcemap: 'external', target: 'esnext', charset: 'utf8', logLevel: 'silent' },
    // Which acorn does not read.
    supported: { decorators: false },
  });
  const text = (ending: RegExp): string => outputFiles.find((file) => ending.test(extname(file.path)))?.text ?? '';
  return { code: text(/^\.[cm]?js$/), map: JSON.parse(text(/^\.map$/)) };
}
