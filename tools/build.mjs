#!/usr/bin/env node
/**
 * Builds `dist` from an empty folder: declarations of every module and the conformance suite by the TypeScript compiler, the
 * library itself by Vite, as a few files that all entries share. Node.js takes three times as long to load hundreds of small
 * modules as it takes to load those. Vite builds twice: then it is known what a first kernel calls (eager.mjs). The suite stays a
 * file a module, as its kernels are to be read as they were written.
 *
 * `dist/page` is the same for pages (the condition `browser`): without the drivers that call libraries of the system, and with those that open by a promise in files of their own.
 *
 * `dist/cjs` is the same in CommonJS, with declarations of its own, for what cannot load ES modules: Jest without flags, and tools that
 * resolve packages as Node.js 10 did. Node.js itself never takes it, so that a process has one library and not two.
 *
 * `dist/src` has the sources, and maps lead to them: an editor that is asked for a definition, or a debugger that steps into the library, shows TypeScript.
 *
 * With `--if-changed` nothing is done where `dist` was built from what is there now.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

const stamp = join(root, '.cache', 'built');
const inputs = inputsHash();
if (process.argv.includes('--if-changed') && existsSync(join(dist, 'cjs/package.json')) && existsSync(stamp)) {
  if (readFileSync(stamp, 'utf8') === inputs) process.exit(0);
}

/** Of all that the result depends on. */
function inputsHash() {
  const under = (folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const sources = ['src', 'testsuite', 'tools'].flatMap(under).filter((name) => /(?<!\.test)\.(?:ts|mjs)$/.test(name));
  const hash = createHash('sha256');
  for (const name of [...sources.sort(), 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    hash.update(name).update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

rmSync(stamp, { force: true });
rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [join(root, 'tools/emit.mjs'), dist], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const PUBLIC = ['index', 'cuda/index', 'roc/index', 'parallel/index', 'nccl/index'];
/** Built by themselves, so that what programs load is not laid out for them. */
const PLUGINS = ['vite', 'rollup', 'rolldown', 'webpack', 'rspack', 'esbuild', 'loader', 'eslint'].map(
  (name) => `plugins/${name}`,
);
const entries = new Set(PUBLIC);
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!/\.js(?:\.map)?$/.test(name)) continue;
  const file = join(dist, name);
  if (!/^testsuite[\\/]/.test(name)) rmSync(file);
  else if (name.endsWith('.js')) for (const entry of outside(name)) entries.add(entry);
}

/** What a file of the suite imports from the library, by module: it must be the same as what programs import. */
function outside(name) {
  const text = readFileSync(join(dist, name), 'utf8');
  const found = text.matchAll(/^(?:im|ex)port\b[^;]*?\bfrom '(\.\.\/[^']+)\.js';/gm);
  const folder = posix.dirname(name.replaceAll('\\', '/'));
  return Array.from(found, ([, path]) => posix.join(folder, path)).filter((path) => !path.startsWith('testsuite/'));
}

// Loaded only now: in a fresh clone they are not there before the packages are.
const { build } = await import('vite');
const { calledFirst, eagerly } = await import('./eager.mjs');
const { withoutComments } = await import('./comments.mjs');
const { divide } = await import('./page-parts.mjs');
const { joinFiles } = await import('./page-files.mjs');
const { shipSources } = await import('./sources.mjs');

async function bundle(names, plugins, { format = 'es', outDir = dist, chunks = 'chunks', output = {} } = {}) {
  rmSync(join(outDir, chunks), { recursive: true, force: true });
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [withoutComments, ...plugins],
    // One character beyond ASCII, and engines decode the file more slowly and keep two bytes for each character.
    esbuild: { charset: 'ascii' },
    // Bundled, so that it is loaded as fast as the rest, and the package depends on nothing.
    ssr: { noExternal: ['acorn'] },
    build: {
      outDir,
      emptyOutDir: false,
      ssr: true,
      target: 'node20.19',
      minify: false,
      sourcemap: format === 'es',
      rollupOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(root, `src/${name}.ts`)])),
        preserveEntrySignatures: 'strict',
        output: {
          format,
          exports: 'named',
          entryFileNames: '[name].js',
          minifyInternalExports: false,
          // Bundlers warn of imports that are there for their order only.
          hoistTransitiveImports: false,
          // In a folder of their own: the library knows its own frames in stack traces by the folder above its file.
          chunkFileNames: `${chunks}/[name]-[hash].js`,
          sourcemapExcludeSources: true,
          ...output,
        },
      },
    },
  });
}

/** CommonJS has no `import.meta`; the library then goes by `__filename`, which a bundle may have replaced. */
const withoutImportMeta = { name: 'no-import-meta', resolveImportMeta: () => 'undefined' };

/** The modules that a declaration file leads to, itself included. */
function declaredBy(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(dist, `${name}.d.ts`), 'utf8');
  for (const [, path] of text.matchAll(/\b(?:from |import\()'(\.[^']+)\.[jt]s'/g)) {
    declaredBy(posix.join(posix.dirname(name), path), found);
  }
  return found;
}

/** Copies a declaration: beside a package.json that says `commonjs`, the same text declares a CommonJS module. */
function copyDeclaration(name, to) {
  mkdirSync(join(to, posix.dirname(name)), { recursive: true });
  copyFileSync(join(dist, `${name}.d.ts`), join(to, `${name}.d.ts`));
  mapToSource(name, to);
}

/** Writes the map of a declaration, so that editors go to the TypeScript under `dist/src` and not to the declaration. */
function mapToSource(name, folder) {
  const map = JSON.parse(readFileSync(join(dist, `${name}.d.ts.map`), 'utf8'));
  const source = join(dist, 'src', `${name}.ts`);
  map.sources = [relative(join(folder, posix.dirname(name)), source).replaceAll('\\', '/')];
  writeFileSync(join(folder, `${name}.d.ts.map`), JSON.stringify(map));
}

/** Keeps the declarations that users meet, with the sources that they were made of, and removes the others. */
function shipDeclarations(used) {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const [, module] = /^(.*)\.d\.ts(?:\.map)?$/.exec(name.replaceAll('\\', '/')) ?? [];
    if (module !== undefined && !used.has(module)) rmSync(join(dist, name));
  }
  for (const name of used) {
    const source = join(root, name.startsWith('testsuite/') ? '' : 'src', `${name}.ts`);
    mkdirSync(join(dist, 'src', posix.dirname(name)), { recursive: true });
    copyFileSync(source, join(dist, 'src', `${name}.ts`));
    mapToSource(name, dist);
  }
}

await bundle([...entries], []);
await bundle([...entries], [eagerly(calledFirst(dist))]);

/** Each module that has a half for pages is that. */
const forPages = {
  name: 'page-halves',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (importer === undefined || !source.endsWith('.ts')) return null;
    const half = join(dirname(importer), source.replace(/\.ts$/, '.page.ts'));
    return existsSync(half) ? half : null;
  },
};
/** A file a module, so that bundlers leave out what is not used. npm packs no folder of the name node_modules. */
const modules = {
  preserveModules: true,
  preserveModulesRoot: join(root, 'src'),
  entryFileNames: ({ name }) => `${name.replace(/^.*node_modules\//, 'packages/')}.js`,
};
await bundle(PUBLIC, [forPages], { outDir: join(dist, 'page'), output: modules });

const cjs = join(dist, 'cjs');
await bundle(PUBLIC, [withoutImportMeta], { format: 'cjs', outDir: cjs });
const apart = { chunks: 'plugins/chunks' };
await bundle(PLUGINS, [], apart);
divide(join(dist, 'page'), join(dist, 'plugins/rollup.js'), PUBLIC);
await joinFiles(join(dist, 'page'), PUBLIC);
await bundle(['cli/main'], [], { chunks: 'cli/chunks' });
await bundle(PLUGINS, [withoutImportMeta], { ...apart, format: 'cjs', outDir: cjs });
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
const declared = new Set([...PUBLIC, ...PLUGINS].flatMap((name) => [...declaredBy(name)]));
shipDeclarations(new Set([...declared, ...declaredBy('testsuite/index')]));
for (const name of declared) copyDeclaration(name, cjs);
shipSources(root, dist);

mkdirSync(dirname(stamp), { recursive: true });
writeFileSync(stamp, inputs);
