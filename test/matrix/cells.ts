/**
 * The cells of the matrix: what each tool is given beside the program, and the commands that build and run it.
 *
 * `{node}` and the like stand for executables, `{program}` for the program's text as a string of JSON. Where the program is a test, the
 * last line of its text makes it one.
 */
import { type Cell, json, TYPES_ONLY } from './cell.ts';
import { nextPages, plainPages } from './page-cells.ts';

const TEST = { last: `test('runs', report, 120_000);`, program: 'program.test.ts' };
const BLIND = { place: 'kernel', env: { MATRIX_CAPTURES: '1' } } as const;
const TYPESCRIPT = ['tsc', '--target', 'es2022', '--lib', 'es2022', '--types', 'node', '--strict', '--sourceMap'];
const ESM = [...TYPESCRIPT, '--module', 'nodenext', 'program.ts'];
const NODE10 = [...TYPESCRIPT, '--module', 'commonjs', '--moduleResolution', 'node10', 'program.ts'];
const PACKAGE = { module: json({ type: 'module' }), commonjs: json({ type: 'commonjs' }) };

const runtimes: readonly Cell[] = [
  ...['20', '22', '24', '26'].map((version) => ({
    name: `Node.js ${version}`,
    files: { 'package.json': PACKAGE.module },
    commands: [ESM, [`{node${version}}`, 'program.js']],
  })),
  {
    name: 'Node.js 24, types stripped',
    files: { 'package.json': PACKAGE.module },
    commands: [['{node24}', 'program.ts']],
  },
  {
    name: 'Node.js 24 --permission',
    files: { 'package.json': PACKAGE.module },
    commands: [['{node24}', '--permission', '--allow-fs-read=*', 'program.ts']],
    ...BLIND,
  },
  { name: 'Bun', commands: [['{bun}', 'program.ts']], ...BLIND },
  {
    name: 'Bun, bundled by itself',
    commands: [
      ['{bun}', 'build', 'program.ts', '--target=bun', '--outfile=out.js'],
      ['{bun}', 'out.js'],
    ],
    ...BLIND,
  },
  { name: 'Deno', commands: [['{deno}', 'run', '--node-modules-dir=manual', '-A', 'program.ts']], ...BLIND },
  {
    name: 'Deno without permissions',
    commands: [
      ['{deno}', 'run', '--node-modules-dir=manual', '--no-prompt', '--allow-env=MATRIX_CAPTURES', 'program.ts'],
    ],
    ...BLIND,
  },
];

const SUITE = { prints: 'CONFORMANCE', env: { TSAMBA_WARN_IMPLICIT_COPY: '0' } } as const;

const suites: readonly Cell[] = [
  { name: 'conformance suite in Bun', commands: [['{bun}', '../../conformance.mjs']], ...SUITE },
  {
    name: 'conformance suite in Deno',
    commands: [['{deno}', 'run', '--node-modules-dir=manual', '-A', '../../conformance.mjs']],
    ...SUITE,
  },
];

const TSAMBA = '../../node_modules/tsamba/dist/cli/main.js';
const KERNELS = `import { cuda } from 'tsamba';
export const scale = cuda.jit((y, k) => { const i = cuda.grid(1); if (i < y.length) y[i] *= k; });
`;

/** The command of the package, in each runtime. */
const commandLine: readonly Cell[] = [
  ...['20', '22', '24', '26'].map((version) => [`Node.js ${version}`, [`{node${version}}`]] as const),
  ['Bun', ['{bun}']] as const,
  ['Deno', ['{deno}', 'run', '-A', '--node-modules-dir=manual']] as const,
].map(([runtime, start]) => ({
  name: `tsamba doctor, bench, info, inspect, cache, new, test in ${runtime}`,
  files: { 'package.json': PACKAGE.module, 'kernels.mjs': KERNELS },
  commands: [
    ['doctor', '--device', 'cpu'],
    ['bench', '--device', 'cpu'],
    ['info'],
    ['inspect', 'kernels.mjs', 'scale', '--types', 'f32[], f32', '--target', 'ptx', '--arch', 'sm_80'],
    ['cache', 'info'],
    ['new', 'app'],
    ['test', '--device', 'cpu', '--filter', 'rounding'],
  ].map((words) => [...start, TSAMBA, ...words]),
  prints: ['ok   cpu 0', '5-point stencil', 'Runtime  ', '.target sm_80', 'nvidia  ', 'src/kernels.test.ts', ' passed'],
}));

const compilers: readonly Cell[] = [
  {
    name: 'tsc, CommonJS, moduleResolution node',
    files: { 'package.json': PACKAGE.commonjs },
    commands: [NODE10, ['{node}', 'program.js']],
  },
  { name: 'tsx, ES modules', files: { 'package.json': PACKAGE.module }, commands: [['tsx', 'program.ts']] },
  { name: 'tsx, CommonJS', files: { 'package.json': PACKAGE.commonjs }, commands: [['tsx', 'program.ts']] },
];

const MINIFIED = [false, true];
const FORMATS = ['esm', 'cjs'] as const;
/** A cell for each format, as it is and minified. */
function both(tool: string, cell: (format: 'esm' | 'cjs', minify: boolean) => Omit<Cell, 'name'>): Cell[] {
  return FORMATS.flatMap((format) =>
    MINIFIED.map((minify) => ({
      name: `${tool}, ${format === 'esm' ? 'ES modules' : 'CommonJS'}${minify ? ', minified' : ''}`,
      ...cell(format, minify),
    })),
  );
}

const out = (format: 'esm' | 'cjs'): string => (format === 'esm' ? 'out.mjs' : 'out.cjs');
const esbuild = (format: string, minify: boolean, to: string, ...more: string[]): string[] => [
  ...['esbuild', 'program.ts', '--bundle', '--platform=node', `--format=${format}`, `--outfile=${to}`],
  ...(minify ? ['--minify'] : []),
  ...(more.length === 0 ? ['--sourcemap'] : more),
];

const bundlers: readonly Cell[] = [
  ...both('esbuild', (format, minify) => ({
    commands: [esbuild(format, minify, out(format)), ['{node}', out(format)]],
  })),
  ...both('rollup', (format, minify) => ({
    files: {
      'rollup.config.mjs': `import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { transform } from 'esbuild';
const types = { name: 'types', transform: (code, file) => (file.endsWith('.ts') ? transform(code, { loader: 'ts', sourcemap: true, sourcefile: file }) : null) };
export default {
  input: 'program.ts',
  plugins: [nodeResolve(), types${minify ? ', terser()' : ''}],
  output: { file: '${out(format)}', format: '${format}', sourcemap: true },
};
`,
    },
    commands: [
      ['rollup', '--config', 'rollup.config.mjs', '--failAfterWarnings'],
      ['{node}', out(format)],
    ],
  })),
  ...both('vite SSR', (format, minify) => ({
    files: {
      'vite.config.mjs': `export default {
  ssr: { noExternal: true },
  build: { ssr: 'program.ts', minify: ${minify}, sourcemap: true, outDir: 'out',
    rollupOptions: { output: { format: '${format}', entryFileNames: '${out(format)}' } } },
};
`,
    },
    commands: [
      ['vite', 'build'],
      ['{node}', `out/${out(format)}`],
    ],
  })),
  ...both('webpack', (format, minify) => ({
    files: {
      'tsconfig.json': json({
        compilerOptions: { target: 'es2022', module: 'esnext', moduleResolution: 'bundler', sourceMap: true },
      }),
      'webpack.config.mjs': `export default {
  mode: '${minify ? 'production' : 'development'}', target: 'node20', devtool: 'source-map', entry: './program.ts',
  module: { rules: [{ test: /\\.ts$/, loader: 'ts-loader', options: { transpileOnly: true } }] },
  output: { path: import.meta.dirname, filename: '${out(format)}'${format === 'esm' ? ', module: true' : ''} },
  ${format === 'esm' ? 'experiments: { outputModule: true },' : ''}
  performance: { hints: false },
};
`,
    },
    commands: [
      ['webpack', '--fail-on-warnings'],
      ['{node}', out(format)],
    ],
  })),
  ...both('tsup', (format, minify) => ({
    files: {
      'package.json': PACKAGE.commonjs,
      'tsup.config.mjs': `export default { entry: { out: 'program.ts' }, format: '${format}', minify: ${minify}, sourcemap: true, outDir: '.', noExternal: [/./], clean: false };\n`,
    },
    commands: [
      ['tsup', '--no-dts', '--target', 'node20'],
      ['{node}', format === 'esm' ? 'out.mjs' : 'out.js'],
    ],
  })),
  ...MINIFIED.map((minify) => ({
    name: `single executable (SEA)${minify ? ', minified' : ''}`,
    files: { 'sea.json': json({ main: 'out.cjs', output: 'out.blob', disableExperimentalSEAWarning: true }) },
    commands: [
      esbuild('cjs', minify, 'out.cjs', '--sourcemap=inline'),
      ['{node}', '--experimental-sea-config', 'sea.json'],
      ['cp', '{node}', 'program'],
      [
        'postject',
        'program',
        'NODE_SEA_BLOB',
        'out.blob',
        '--sentinel-fuse',
        'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
      ],
      ['./program'],
    ],
  })),
  ...['--turbopack', '--webpack'].map((bundler) => ({
    name: `Next.js ${bundler}`,
    files: {
      'package.json': json({ name: 'app', private: true }),
      'next.config.mjs': `import { join } from 'node:path';
const root = join(import.meta.dirname, '../..');
export default { turbopack: { root }, outputFileTracingRoot: root, experimental: { serverSourceMaps: true, cpus: 1 }, typescript: { ignoreBuildErrors: true } };
`,
      'app/layout.tsx': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
      'app/page.tsx': `import '../program';\nexport default () => <p>computed</p>;\n`,
    },
    commands: [['next', 'build', bundler]],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
  })),
];

/** Minified once more where the bundler does not do it fast; no map beside the result, so that places come from the plugin. */
const MINIFY = ['esbuild', 'out.mjs', '--minify', '--allow-overwrite', '--outfile=out.mjs'];
const ESBUILD_WITH_PLUGIN = {
  'build.mjs': `import { build } from 'esbuild';
import tsamba from 'tsamba/esbuild';
await build({ entryPoints: ['program.ts'], bundle: true, platform: 'node', format: 'esm', minify: true, outfile: 'out.mjs', plugins: [tsamba()] });
`,
};
/** A configuration of webpack's kind with the plugin. */
const packed = (name: string, loader: string): string => `import tsamba from 'tsamba/${name}';
export default {
  mode: 'development', target: 'node20', devtool: 'source-map', entry: './program.ts', plugins: [tsamba()],
  module: { rules: [{ test: /\\.ts$/, ${loader} }] },
  output: { path: import.meta.dirname, filename: 'out.mjs', module: true }, experiments: { outputModule: true },
};
`;

const plugins: readonly Cell[] = [
  ...['node', 'bun', 'deno'].map((runtime) => ({
    name: `plugin of esbuild, minified, in ${runtime}`,
    files: ESBUILD_WITH_PLUGIN,
    commands: [
      ['{node}', 'build.mjs'],
      [`{${runtime}}`, ...(runtime === 'deno' ? ['run', '--node-modules-dir=manual', '-A'] : []), 'out.mjs'],
    ],
  })),
  {
    name: 'plugin of rollup, minified, in Bun',
    files: {
      'rollup.config.mjs': `import { nodeResolve } from '@rollup/plugin-node-resolve';
import { transform } from 'esbuild';
import tsamba from 'tsamba/rollup';
const types = { name: 'types', transform: (code, file) => (file.endsWith('.ts') ? transform(code, { loader: 'ts', sourcemap: true, sourcefile: file }) : null) };
export default { input: 'program.ts', plugins: [tsamba(), nodeResolve(), types], output: { file: 'out.mjs', format: 'esm' } };
`,
    },
    commands: [['rollup', '--config', 'rollup.config.mjs', '--failAfterWarnings'], MINIFY, ['{bun}', 'out.mjs']],
  },
  {
    name: 'plugin of vite, minified, in Bun',
    files: {
      'vite.config.mjs': `import tsamba from 'tsamba/vite';
export default {
  plugins: [tsamba()], ssr: { noExternal: true },
  build: { ssr: 'program.ts', minify: true, outDir: '.', emptyOutDir: false, rollupOptions: { output: { entryFileNames: 'out.mjs' } } },
};
`,
    },
    commands: [
      ['vite', 'build'],
      ['{bun}', 'out.mjs'],
    ],
  },
  {
    name: 'plugin of rolldown, minified, in Bun',
    files: {
      'rolldown.config.mjs': `import tsamba from 'tsamba/rolldown';
export default { input: 'program.ts', platform: 'node', plugins: [tsamba()], output: { file: 'out.mjs', minify: true, codeSplitting: false } };
`,
    },
    commands: [
      ['rolldown', '--config', 'rolldown.config.mjs'],
      ['{bun}', 'out.mjs'],
    ],
  },
  {
    name: 'plugin of webpack, minified, in Bun',
    files: {
      'tsconfig.json': TYPES_ONLY,
      'webpack.config.mjs': packed('webpack', `loader: 'ts-loader', options: { transpileOnly: true }`),
    },
    commands: [['webpack', '--fail-on-warnings'], MINIFY, ['{bun}', 'out.mjs']],
  },
  {
    name: 'plugin of rspack, minified, in Bun',
    files: {
      'rspack.config.mjs': packed(
        'rspack',
        `loader: 'builtin:swc-loader', options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }`,
      ),
      'build.mjs': `import { rspack } from '@rspack/core';
import config from './rspack.config.mjs';
rspack({ ...config, context: import.meta.dirname }).run((error, stats) => {
  if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString('errors-only'));
});
`,
    },
    commands: [['{node}', 'build.mjs'], MINIFY, ['{bun}', 'out.mjs']],
  },
];

const JEST = (transform: unknown, more: object = {}): string =>
  json({
    testMatch: ['**/*.test.ts'],
    testEnvironment: 'node',
    cache: false,
    transform: { '\\.[jt]s$': transform },
    ...more,
  });
const jest = ['{node}', '../../node_modules/jest/bin/jest.js', '--config', 'jest.config.json', '--runInBand'];
const BABEL_TYPES = '@babel/preset-typescript';

const runners: readonly Cell[] = [
  {
    name: 'Vitest',
    files: { 'vitest.config.mjs': 'export default { test: { globals: true } };\n' },
    commands: [['vitest', 'run', '--disableConsoleIntercept']],
    ...TEST,
  },
  {
    name: 'Jest, ES modules',
    files: {
      'package.json': PACKAGE.module,
      'jest.config.json': JEST(['babel-jest', { presets: [BABEL_TYPES] }], { extensionsToTreatAsEsm: ['.ts'] }),
    },
    commands: [jest],
    env: { NODE_OPTIONS: '--experimental-vm-modules --no-warnings' },
    ...TEST,
  },
  {
    name: 'Jest, CommonJS (babel-jest)',
    files: {
      'package.json': PACKAGE.commonjs,
      'jest.config.json': JEST([
        'babel-jest',
        { presets: [['@babel/preset-env', { targets: { node: '20' } }], BABEL_TYPES] },
      ]),
    },
    commands: [jest],
    ...TEST,
  },
  {
    name: 'Jest, CommonJS (ts-jest)',
    files: {
      'package.json': PACKAGE.commonjs,
      'tsconfig.json': json({
        compilerOptions: {
          target: 'es2022',
          lib: ['es2022'],
          types: ['node', 'jest'],
          module: 'commonjs',
          moduleResolution: 'node10',
          strict: true,
        },
      }),
      'jest.config.json': JEST(['ts-jest', {}]),
    },
    commands: [jest],
    ...TEST,
  },
];

const linters: readonly Cell[] = ['eslint', 'oxlint'].map((tool) => ({
  name: tool === 'eslint' ? 'ESLint with tsamba/eslint' : 'oxlint with tsamba/eslint',
  files: { 'package.json': PACKAGE.module },
  commands: [['{node}', '../../lint.mjs', tool, '.']],
  prints: 'LINTED',
}));

export const CELLS: readonly Cell[] = [
  ...runtimes,
  ...suites,
  ...commandLine,
  ...compilers,
  ...bundlers,
  ...nextPages,
  ...plugins,
  ...plainPages,
  ...runners,
  ...linters,
];
