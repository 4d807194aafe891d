/**
 * Cells whose kernels run in the browser: built as a new user would, opened in Chromium (open-page.ts).
 */
import { type Cell, json, TYPES_ONLY } from './cell.ts';

/** A module that runs a kernel in the browser, with a captured constant and a function of another module, and tells what came of it, and where an error is. */
const IN_PAGE = {
  'app/functions.ts': `export const offset = (v: number): number => v + 1;\n`,
  'app/kernels.ts': `import { cuda, type f32, type Vec } from 'tsamba';
import { offset } from './functions';

const gain = 3;
const scaled = cuda.jit((y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = offset(y[i]! * gain);
});
const broken = cuda.jit((y: Vec<f32>) => {
  y[y[0]!] = 1;
});

export async function run(): Promise<string> {
  await cuda.open('cpu');
  const y = cuda.toDevice(Float32Array.of(1, 2));
  await scaled.launchAsync({ threads: 2 }, y);
  const values = (await y.copyToHostAsync()).join();
  const { code, location } = await broken.launchAsync({ threads: 1 }, y).then(() => ({}) as never, (error) => error);
  return \`OUTCOME \${values} \${code} \${location?.file}:\${location?.line}\`;
}
`,
} as const;
const OUTCOME = 'OUTCOME 4,7 K215 app/kernels.ts:10';
const NEXT_PAGE = {
  ...IN_PAGE,
  'app/layout.tsx': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
  'app/page.tsx': `'use client';
import { useEffect, useState } from 'react';
import { run } from './kernels';

export default () => {
  const [text, setText] = useState('…');
  useEffect(() => {
    run().then(setText, (error: Error) => setText(\`OUTCOME \${error.stack}\`));
  }, []);
  return <p>{text}</p>;
};
`,
} as const;
const PLAIN_PAGE = {
  ...IN_PAGE,
  'main.ts': `import { run } from './app/kernels';
run().then((text) => { document.body.textContent = text; }, (error) => { document.body.textContent = 'OUTCOME ' + error.stack; });
`,
} as const;
const NEXT_RULES = `turbopack: { root, rules: { '*.{ts,tsx,js,jsx}': { condition: { all: ['browser', { not: 'foreign' }] }, loaders: ['tsamba/webpack-loader'] } } }`;
const NEXT_PLUGIN = `productionBrowserSourceMaps: true, webpack: (config) => { config.plugins.push(tsamba()); return config; }`;

export const nextPages: readonly Cell[] = ['--turbopack', '--webpack'].map((bundler) => ({
  name: `Next.js ${bundler}, in the browser`,
  files: {
    ...NEXT_PAGE,
    'package.json': json({ name: 'app', private: true }),
    'next.config.mjs': `import { join } from 'node:path';
import tsamba from 'tsamba/webpack';
const root = join(import.meta.dirname, '../..');
export default { outputFileTracingRoot: root, serverExternalPackages: ['tsamba'], experimental: { cpus: 1 }, typescript: { ignoreBuildErrors: true },
  ${bundler === '--webpack' ? NEXT_PLUGIN : NEXT_RULES} };
`,
  },
  commands: [
    ['next', 'build', bundler],
    ['tsx', '../../open-page.ts', OUTCOME],
  ],
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  prints: 'PAGE',
}));

/** Scripts of pages, by bundlers of webpack's kind: in production, so that members of `cuda` that nothing uses are left out. */
export const plainPages: readonly Cell[] = ['webpack', 'rspack'].map((name) => ({
  name: `plugin of ${name}, in the browser`,
  files: {
    ...PLAIN_PAGE,
    'tsconfig.json': TYPES_ONLY,
    'build.mjs': `import { ${name === 'webpack' ? 'default as ' : ''}${name} } from '${name === 'webpack' ? 'webpack' : '@rspack/core'}';
import tsamba from 'tsamba/${name}';
const loader = ${name === 'webpack' ? `{ loader: 'ts-loader', options: { transpileOnly: true } }` : `{ loader: 'builtin:swc-loader', options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } } }`};
${name}({
  mode: 'production', target: 'web', devtool: 'source-map', entry: './main.ts', context: import.meta.dirname, plugins: [tsamba()],
  externals: { react: 'React' }, resolve: { extensions: ['.ts', '.js'] }, module: { rules: [{ test: /\\.ts$/, ...loader }] },
  output: { path: import.meta.dirname + '/out', filename: 'main.js' }, performance: { hints: false },
}).run((error, stats) => {
  if (error ?? (stats.hasErrors() || stats.hasWarnings())) throw error ?? new Error(stats.toString('errors-warnings'));
});
`,
  },
  commands: [
    ['{node}', 'build.mjs'],
    ['tsx', '../../open-page.ts', OUTCOME, 'out/main.js'],
  ],
  prints: 'PAGE',
}));
