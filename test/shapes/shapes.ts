/**
 * The source shapes: what the tools that stand between an author and the engine make of one small project.
 *
 * Each shape is written into a folder of its own, as the tool would leave it, with the command that runs it there. The
 * package itself is installed beside them, built as it is published.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformAsync } from '@babel/core';
import * as swc from '@swc/core';
import * as esbuild from 'esbuild';
import { minifySync } from 'oxc-minify';
import { transformSync } from 'oxc-transform';
import { minify } from 'terser';
import { build as vite } from 'vite';

const require = createRequire(import.meta.url);

/** The part of Istanbul's instrumenter used here; the package has no types. */
interface Istanbul {
  createInstrumenter(options: object): {
    instrumentSync(code: string, file: string, map: object): string;
    lastSourceMap(): object;
  };
}
const { createInstrumenter }: Istanbul = require('istanbul-lib-instrument');

const REPOSITORY: string = fileURLToPath(new URL('../..', import.meta.url));
const PROJECT: string = fileURLToPath(new URL('./project', import.meta.url));
const bin = (path: string): string => join(REPOSITORY, 'node_modules', path);

/** One shape: writes itself into `dir`, returns the arguments for Node that run it there. */
export interface Shape {
  readonly name: string;
  readonly build: (dir: string) => string[] | Promise<string[]>;
}

interface Code {
  readonly code: string;
  readonly map: string;
}

/** Installs the package, and what it and the test runners need, into `root/node_modules`. */
export function install(root: string): void {
  const modules = join(root, 'node_modules');
  const target = join(modules, 'tsamba');
  mkdirSync(target, { recursive: true });
  for (const name of ['acorn', 'vitest', 'vite']) symlinkSync(bin(name), join(modules, name));
  cpSync(join(REPOSITORY, 'package.json'), join(target, 'package.json'));
  const args = [join(REPOSITORY, 'tools/emit.mjs'), join(target, 'dist')];
  try {
    execFileSync(process.execPath, args, { stdio: 'pipe' });
  } catch (error) {
    // Type errors are the business of `npm run check`; here it counts that there is a package to run.
    if (!existsSync(join(target, 'dist/index.js'))) throw error;
  }
}

const sources = (): string[] => readdirSync(PROJECT).filter((name) => name.endsWith('.ts'));
const read = (name: string): string => readFileSync(join(PROJECT, name), 'utf8');
const emit = (dir: string, name: string, { code, map }: Code): void => {
  writeFileSync(join(dir, name), `${code}\n//# sourceMappingURL=${name}.map\n`);
  writeFileSync(join(dir, `${name}.map`), map);
};

/** Writes a module for each file of the project. */
async function perFile(
  dir: string,
  transform: (name: string, text: string) => Code | Promise<Code>,
): Promise<string[]> {
  for (const name of sources()) emit(dir, name.replace(/\.ts$/, '.js'), await transform(name, read(name)));
  return ['cli.js'];
}

/** Writes the whole project as one module. */
async function bundled(dir: string, transform: (bundle: Code) => Code | Promise<Code>): Promise<string[]> {
  return written(dir, await transform(await bundle({})));
}

function written(dir: string, code: Code): string[] {
  emit(dir, 'bundle.js', code);
  return ['bundle.js'];
}

async function bundle(options: esbuild.BuildOptions): Promise<Code> {
  const { outputFiles = [] } = await esbuild.build({
    entryPoints: [join(PROJECT, 'cli.ts')],
    external: ['tsamba'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'external',
    target: 'es2022',
    outfile: join(PROJECT, 'bundle.js'),
    write: false,
    ...options,
  });
  const text = (suffix: string): string => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
  return { code: text('.js'), map: absolute(text('.map'), PROJECT) };
}

/** A map whose sources are named from `base`, with their absolute paths, as it will lie in another folder. */
function absolute(map: string, base: string): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  return JSON.stringify({ ...parsed, sources: parsed.sources.map((name) => join(base, name)) });
}

/** TypeScript to JavaScript by esbuild, one file, for tools that take no TypeScript. */
function stripped(name: string, text: string): Code {
  const { code, map } = esbuild.transformSync(text, {
    loader: 'ts',
    sourcefile: join(PROJECT, name),
    sourcemap: 'external',
    target: 'es2022',
  });
  return { code, map };
}

async function babel(code: string, file: string, map: string | undefined, presets: unknown[]): Promise<Code> {
  const result = await transformAsync(code, {
    filename: file,
    presets: presets as never[],
    sourceMaps: true,
    configFile: false,
    babelrc: false,
    ...(map === undefined ? {} : { inputSourceMap: JSON.parse(map) as never }),
  });
  return { code: result?.code ?? '', map: JSON.stringify(result?.map) };
}

const ES5 = [require.resolve('@babel/preset-env'), { targets: 'ie 11', modules: false }];
const TYPESCRIPT = [require.resolve('@babel/preset-typescript'), { rewriteImportExtensions: false }];

function instrument({ code, map }: Code, file: string): Code {
  const instrumenter = createInstrumenter({ esModules: true, produceSourceMap: true, compact: false });
  const out = instrumenter.instrumentSync(code, file, JSON.parse(map));
  return { code: out, map: JSON.stringify(instrumenter.lastSourceMap()) };
}

async function terse({ code, map }: Code, ecma: 5 | 2020 = 2020): Promise<Code> {
  const result = await minify(code, {
    module: true,
    ecma,
    toplevel: true,
    compress: { passes: 3, unsafe: true, pure_getters: true },
    sourceMap: { content: map },
  });
  return { code: result.code ?? '', map: String(result.map) };
}

/** Copies the TypeScript itself, for runners that transform in memory. */
function copied(dir: string): void {
  for (const name of sources()) cpSync(join(PROJECT, name), join(dir, name));
}

/** Node resolves no `.js` to a `.ts`; the other extension has as many characters. */
function stripTypes(dir: string): string[] {
  for (const name of sources())
    writeFileSync(join(dir, name), read(name).replace(/from '(\.\/.*)\.js'/g, "from '$1.ts'"));
  return ['cli.ts'];
}

function jest(dir: string, presets: unknown[], extra: object): string[] {
  copied(dir);
  const transform = {
    '\\.[jt]s$': [require.resolve('babel-jest', { paths: [require.resolve('jest')] }), { configFile: false, presets }],
  };
  const config = {
    rootDir: dir,
    testMatch: ['**/*.spec.ts'],
    testEnvironment: 'node',
    moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    transform,
    cache: false,
    ...extra,
  };
  writeFileSync(join(dir, 'jest.config.json'), JSON.stringify(config));
  writeFileSync(join(dir, 'kernels.spec.ts'), `test('runs', async () => { await import('./cli.js'); }, 120_000);\n`);
  return [bin('jest/bin/jest.js'), '--config', join(dir, 'jest.config.json'), '--runInBand'];
}

function vitest(dir: string, config: string, ...options: string[]): string[] {
  copied(dir);
  writeFileSync(join(dir, 'vitest.config.mjs'), `export default { test: ${config} };\n`);
  writeFileSync(
    join(dir, 'kernels.spec.ts'),
    `import { test } from 'vitest';\ntest('runs', async () => { await import('./cli.js'); }, 120_000);\n`,
  );
  return [bin('vitest/vitest.mjs'), 'run', '--root', dir, ...options];
}

/** The explicit form alone, minified, as a program that prints its results. */
export async function explicitProgram(dir: string): Promise<string> {
  written(dir, await bundle({ minify: true, entryPoints: [join(PROJECT, 'explicit-cli.ts')] }));
  return join(dir, 'bundle.js');
}

export const SHAPES: readonly Shape[] = [
  {
    name: 'tsc',
    build: (dir) => {
      const options = [
        '--ignoreConfig',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--noCheck',
        '--sourceMap',
        '--rootDir',
        PROJECT,
      ];
      execFileSync(process.execPath, [bin('typescript/bin/tsc'), ...options, '--outDir', dir, join(PROJECT, 'cli.ts')]);
      return ['cli.js'];
    },
  },
  {
    name: 'tsx',
    build: (dir) => {
      copied(dir);
      return [bin('tsx/dist/cli.mjs'), 'cli.ts'];
    },
  },
  // Node's own removal of types leaves every character in its place. Node 20 has none.
  ...(Reflect.get(process.features, 'typescript') ? [{ name: 'Node strip-types', build: stripTypes }] : []),
  { name: 'vitest forks', build: (dir) => vitest(dir, `{ include: ['*.spec.ts'], pool: 'forks' }`) },
  { name: 'vitest threads', build: (dir) => vitest(dir, `{ include: ['*.spec.ts'], pool: 'threads' }`) },
  { name: 'esbuild', build: (dir) => bundled(dir, (code) => code) },
  {
    name: 'esbuild minified',
    build: async (dir) => written(dir, await bundle({ minify: true })),
  },
  {
    name: 'esbuild minified, names kept',
    build: async (dir) => written(dir, await bundle({ minify: true, keepNames: true })),
  },
  { name: 'terser', build: (dir) => bundled(dir, (code) => terse(code)) },
  {
    name: 'swc minified',
    build: (dir) =>
      bundled(dir, async ({ code, map }) => {
        const jsc = {
          minify: { compress: { passes: 3, toplevel: true }, mangle: { toplevel: true } },
          target: 'es2022',
        } as const;
        const out = await swc.transform(code, {
          isModule: true,
          minify: true,
          jsc,
          sourceMaps: true,
          inputSourceMap: map,
          swcrc: false,
        });
        return { code: out.code, map: out.map ?? '' };
      }),
  },
  {
    name: 'swc ES5',
    build: (dir) =>
      perFile(dir, async (name, text) => {
        const jsc = { parser: { syntax: 'typescript' }, target: 'es5' } as const;
        const out = await swc.transform(text, {
          filename: join(PROJECT, name),
          isModule: true,
          jsc,
          sourceMaps: true,
          swcrc: false,
        });
        return { code: out.code, map: out.map ?? '' };
      }),
  },
  {
    name: 'swc CommonJS',
    build: (dir) => {
      writeFileSync(join(dir, 'package.json'), '{ "type": "commonjs" }');
      return perFile(dir, async (name, text) => {
        const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' } as const;
        const out = await swc.transform(text, {
          filename: join(PROJECT, name),
          module: { type: 'commonjs' },
          jsc,
          sourceMaps: true,
          swcrc: false,
        });
        return { code: out.code, map: out.map ?? '' };
      });
    },
  },
  {
    name: 'vite build',
    build: async (dir) => {
      await vite({
        root: PROJECT,
        configFile: false,
        logLevel: 'silent',
        build: {
          ssr: join(PROJECT, 'cli.ts'),
          outDir: dir,
          emptyOutDir: false,
          minify: true,
          sourcemap: true,
          target: 'es2022',
          rollupOptions: { external: ['tsamba'] },
        },
      });
      return ['cli.js'];
    },
  },
  {
    name: 'oxc',
    build: (dir) =>
      perFile(dir, (name, text) => {
        const { code, map } = transformSync(join(PROJECT, name), text, { sourcemap: true });
        return { code, map: JSON.stringify(map) };
      }),
  },
  {
    name: 'oxc minified',
    build: (dir) =>
      bundled(dir, ({ code, map }) => {
        // oxc-minify takes no map: the one of the bundle travels inside it.
        const inline = `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`;
        const out = minifySync('bundle.js', inline, { mangle: { toplevel: true }, compress: {}, sourcemap: true });
        return { code: out.code, map: JSON.stringify(out.map) };
      }),
  },
  {
    name: 'Babel ES5',
    build: (dir) => perFile(dir, (name, text) => babel(text, join(PROJECT, name), undefined, [ES5, TYPESCRIPT])),
  },
  {
    name: 'Babel ES5, terser',
    build: (dir) =>
      perFile(dir, async (name, text) =>
        terse(await babel(text, join(PROJECT, name), undefined, [ES5, TYPESCRIPT]), 5),
      ),
  },
  {
    name: 'istanbul',
    build: (dir) => perFile(dir, (name, text) => instrument(stripped(name, text), join(PROJECT, name))),
  },
  {
    name: 'istanbul, esbuild minified',
    build: (dir) =>
      perFile(dir, (name, text) => {
        const { code, map } = instrument(stripped(name, text), join(PROJECT, name));
        const inline = `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`;
        return esbuild.transformSync(inline, { minify: true, sourcemap: 'external', sourcefile: join(PROJECT, name) });
      }),
  },
  {
    name: 'Jest (babel-jest, ES modules)',
    build: (dir) => [
      '--experimental-vm-modules',
      '--no-warnings',
      ...jest(dir, [TYPESCRIPT], { extensionsToTreatAsEsm: ['.ts'] }),
    ],
  },
  {
    name: 'Jest with coverage',
    build: (dir) => [
      '--experimental-vm-modules',
      '--no-warnings',
      ...jest(dir, [TYPESCRIPT], {
        extensionsToTreatAsEsm: ['.ts'],
        collectCoverage: true,
        coverageReporters: ['none'],
        collectCoverageFrom: ['*.ts'],
      }),
    ],
  },
];
