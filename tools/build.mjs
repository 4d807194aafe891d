#!/usr/bin/env node
/**
 * Builds `dist` from an empty folder: declarations of every module and the conformance suite by the TypeScript compiler, the
 * library itself by Vite, as a few files that all entries share. Node.js takes three times as long to load hundreds of small
 * modules as it takes to load those. Vite builds twice: then it is known what a first kernel calls (eager.mjs). The suite stays a
 * file a module, as its kernels are to be read as they were written.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const entries = new Set(['index', 'cuda/index', 'roc/index']);
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!/\.js(?:\.map)?$/.test(name)) continue;
  const file = join(dist, name);
  if (!/^testsuite[\\/]/.test(name)) rmSync(file);
  else if (name.endsWith('.js')) for (const entry of outside(file)) entries.add(entry);
}

/** What a file of the suite imports from the library, by module: it must be the same as what programs import. */
function outside(file) {
  const found = readFileSync(file, 'utf8').matchAll(/^(?:im|ex)port\b[^;]*?\bfrom '(\.\.\/[^']+)\.js';/gm);
  return Array.from(found, ([, path]) => posix.join('testsuite', path)).filter(
    (path) => !path.startsWith('testsuite/'),
  );
}

// Loaded only now: in a fresh clone they are not there before the packages are.
const { build } = await import('vite');
const { calledFirst, eagerly } = await import('./eager.mjs');

async function bundle(plugins) {
  rmSync(join(dist, 'chunks'), { recursive: true, force: true });
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins,
    // Bundled, so that it is loaded as fast as the rest, and the package depends on nothing.
    ssr: { noExternal: ['acorn'] },
    build: {
      outDir: dist,
      emptyOutDir: false,
      ssr: true,
      target: 'node20.19',
      minify: false,
      sourcemap: true,
      rollupOptions: {
        input: Object.fromEntries([...entries].map((name) => [name, join(root, `src/${name}.ts`)])),
        preserveEntrySignatures: 'strict',
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          minifyInternalExports: false,
          // In a folder of their own: the library knows its own frames in stack traces by the folder above its file.
          chunkFileNames: 'chunks/[name]-[hash].js',
          sourcemapExcludeSources: true,
        },
      },
    },
  });
}

await bundle([]);
await bundle([eagerly(calledFirst(dist))]);
