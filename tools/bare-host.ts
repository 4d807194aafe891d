/**
 * Bundles programs for a bare host: one that has Node.js and perhaps a GPU, but no npm, no TypeScript and no network.
 *
 * Each entry becomes one `.mjs` with everything in it but koffi, whose files are copied beside it, so that
 * `node DIR/name.mjs` runs there. What a program does with its arguments is its own business.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** What koffi needs at run time; what it is built with and its documentation stay behind. */
const KOFFI: readonly string[] = ['package.json', 'index.js', 'index.cjs', 'indirect.js', 'indirect.cjs', 'lib', 'src'];

/** The commit that is bundled, with a mark when the sources have changed since. */
export function commit(): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    const changed = git('status', '--porcelain', '--', 'src', 'testsuite', 'test', 'bench') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

/**
 * Writes `folder/name.mjs` for each entry (name: path from the repository's root), and koffi unless it is there already. In the bundles
 * `process.env.TSAMBA_BUNDLE_COMMIT` is the commit, and `tsamba` the sources. `together`: what entries share is a file beside them.
 */
export async function bundle(
  folder: string,
  entries: Readonly<Record<string, string>>,
  { together = false }: { readonly together?: boolean } = {},
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: together,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['koffi'],
    alias: { tsamba: join(ROOT, 'src/index.ts') },
    define: { 'process.env.TSAMBA_BUNDLE_COMMIT': JSON.stringify(commit()) },
    logLevel: 'error',
  });
  copyKoffi(join(folder, 'node_modules'));
}

function copyKoffi(modules: string): void {
  const source = join(ROOT, 'node_modules');
  if (existsSync(join(modules, 'koffi')) || !existsSync(join(source, 'koffi'))) return;
  for (const name of KOFFI) {
    const from = join(source, 'koffi', name);
    if (existsSync(from)) cpSync(from, join(modules, 'koffi', name), { recursive: true });
  }
  cpSync(join(source, '@koromix'), join(modules, '@koromix'), { recursive: true });
}
