/**
 * Programs as users write them, through esbuild with the plugin, minified; then run with nothing but what the plugin has left on the functions: the
 * inspector would find other names.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import * as library from '../index.ts';
import * as parallel from '../parallel/index.ts';
import tsamba from './esbuild.ts';

const { cuda, KernelError } = library;
const folder = mkdtempSync(join(tmpdir(), 'tsamba-plugins-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

cuda.selectDevice('cpu');

let projects = 0;

/** What `main.ts` exports, bundled and minified with the plugin. */
async function bundled(files: Readonly<Record<string, string>>, options: esbuild.BuildOptions = {}) {
  const root = join(folder, String(projects++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const entry = Object.keys(files).find((name) => name.startsWith('main.')) as string;
  const { outputFiles } = await esbuild.build({
    ...{ absWorkingDir: root, entryPoints: [entry], bundle: true, write: false, format: 'cjs', minify: true },
    ...{
      external: ['tsamba', 'tsamba/parallel', 'react'],
      plugins: [tsamba()],
      logLevel: 'silent',
    },
    ...options,
  });
  const text = outputFiles?.[0]?.text ?? '';
  const module = { exports: {} as Record<string, never> };
  const require = (name: string) => (name === 'tsamba' ? library : parallel);
  new Function('require', 'module', 'exports', text)(require, module, module.exports);
  return { text, ...module.exports } as { text: string } & Record<string, (...given: unknown[]) => unknown>;
}

/** What a kernel makes of zeros. */
function launched(kernel: unknown, n = 4): number[] {
  const y = new Float64Array(n);
  (kernel as { launch(options: object, y: unknown): void }).launch({ grid: 1, block: n }, library.cuda.InOut(y));
  return [...y];
}

describe('kernels in minified bundles', () => {
  it('in the form that takes its captures see these, and by their own names what else they capture', async () => {
    const { direct, declared, nested } = await bundled({
      'main.ts': `import { cuda, type Vec, type f64 } from 'tsamba';
// The minifier calls the parameters of factories by such names.
const e = 100, t = 200, n = 300, a = 400, o = 500, r = 600, i = 700;
export const direct = cuda.jit(({ device, gain }) => (y: Vec<f64>) => {
  const k = device.grid(1);
  y[k] = gain * k + e + t + n + a + o + r + i;
}, { captures: { device: cuda, gain: 4 } });
export const declared = cuda.jit(({ cuda: own, gain = 3 }: { cuda: typeof cuda; gain?: number }) => {
  const twice = gain * 2;
  const kernel = (y: Vec<f64>): void => { y[own.grid(1)] = twice; };
  return kernel;
}, { captures: { cuda } as never });
export const nested = cuda.jit(({ cuda, gain }) => {
  function kernel(y: Vec<f64>): void { y[cuda.grid(1)] = gain; }
  return kernel;
}, { captures: { cuda, gain: 9 } });
`,
    });
    expect(launched(direct, 2)).toEqual([2800, 2804]);
    expect(launched(declared, 2)).toEqual([6, 6]);
    expect(launched(nested, 2)).toEqual([9, 9]);
  });

  it('see what they capture: imports, helpers of helpers, closures of loops, values as they are at the launch', async () => {
    const { kernels, later, setGain } = await bundled({
      'main.ts': `import { cuda, type Vec, type f64 } from 'tsamba';
import { scaled as renamed } from './math';
let gain = 1;
export const setGain = (value: number): void => { gain = value; };
enum Mode { Off, On = 5 }
const table = { offsets: [10, 20] as const } satisfies object;
function twice<T extends number>(x: T): number { return half(x) * 4; }
const half = (x: number): number => x / 2;
export const kernels: unknown[] = [];
for (let turn = 0; turn < 2; turn++) {
  const weight = turn * 100;
  kernels.push(cuda.jit((y: Vec<f64>) => {
    const i: number = cuda.grid(1);
    if (i < y.length) y[i] = renamed(i) + twice(weight) + table.offsets[1] + Mode.On;
  }));
}
export const later = cuda.jit((y: Vec<f64>) => { const i = cuda.grid(1); y[i] = gain as number; });
`,
      'math.ts': `const FACTOR: number = 3;
const lifted = (x: number) => x + FACTOR;
export function scaled(x: number): number { return lifted(x) * FACTOR; }
`,
    });
    expect((kernels as unknown as unknown[]).map((kernel) => launched(kernel))).toEqual([
      [34, 37, 40, 43],
      [234, 237, 240, 243],
    ]);
    setGain?.(7);
    expect(launched(later)).toEqual([7, 7, 7, 7]);
  });

  it('are found behind aliases, namespaces, exports of others, and as functions with names', async () => {
    const result = await bundled({
      'gpu.ts': `export { cuda as device } from 'tsamba';\nimport * as everything from 'tsamba';\nexport default everything;\n`,
      'main.ts': `import * as t from 'tsamba';
import everything, { device } from './gpu';
const { jit: make } = t.cuda;
const gpu = t.cuda;
const k = 3;
function body(y: t.Vec<t.f64>): void { y[gpu.grid(1)] = k; }
const arrow = (y: t.Vec<t.f64>): void => { y[gpu.grid(1)] = k + 1; };
export const a = t.cuda.jit(body);
export const b = make(arrow, { fastMath: true });
export const c = device.jit(function named(y: t.Vec<t.f64>) { y[device.grid(1)] = k + 2; });
export const d = everything.cuda.jit((y: t.Vec<t.f64>) => { y[everything.cuda.grid(1)] = k + 3; }, {});
const builder = (f: (x: number) => number) => gpu.jit((y: t.Vec<t.f64>) => { y[gpu.grid(1)] = f(k); });
export const e = builder((x) => x * k + 0.5);
`,
    });
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => launched(result[name], 1)[0])).toEqual([3, 4, 5, 6, 9.5]);
    expect(String(result['c'])).toContain('named');
  });

  it('call classes, functions of objects, and themselves', async () => {
    const { kernel } = await bundled({
      'main.ts': `import { cuda, type Vec, type f64 } from 'tsamba';
const scale = 10;
class Pair { x: number; constructor(x: number) { this.x = x * scale; } sum(by: number) { return this.x + by * scale; } }
const ops = { add: (a: number, b: number) => a + b * scale };
export const kernel = cuda.jit((y: Vec<f64>) => { y[cuda.grid(1)] = ops.add(new Pair(1).sum(2), 3); });
`,
    });
    expect(launched(kernel, 1)).toEqual([60]);
  });

  it('and the functions of reductions, ufuncs and primitives', async () => {
    const { run } = await bundled({
      'main.ts': `import { cuda } from 'tsamba';
import { transform as over, reduce, map } from 'tsamba/parallel';
const k = 2;
const plus = (a: number, b: number): number => a + b * k / 2;
export const run = () => {
  const x = Float64Array.of(1, 2, 3, 4);
  const sum = cuda.reduce((a: number, b: number) => a + b / 2 * k)(x);
  const scaled = cuda.vectorize((v: number) => v * k)(x);
  const moved = over((v: number) => v + k, x).copyToHost();
  return [sum, [...scaled as Iterable<number>], [...moved as Iterable<number>], reduce(map(x, (v) => v * k), plus)];
};
`,
    });
    expect(run?.()).toEqual([10, [2, 4, 6, 8], [3, 4, 5, 6], 20]);
  });

  it('show errors in the file that was written', async () => {
    const source = `import { cuda, type Vec, type f64 } from 'tsamba';

interface Unused { readonly a: string; readonly b: number }
const limit: number = 3;
const helper = (x: number): number => {
  return x + missing; // here
};
export const broken = cuda.jit((y: Vec<f64>, k: number = limit as number): void => {
  const i: number = cuda.grid(1);
  if (i < y.length) y[i] = (k as number) + helper(y[i]!);
});
declare const missing: number;
`;
    const { broken } = await bundled({ 'src/kernels.ts': source, 'main.ts': `export * from './src/kernels';` });
    let error: unknown;
    try {
      launched(broken);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(KernelError);
    const { location, message, code } = error as InstanceType<typeof KernelError>;
    expect(code).toBe('K010');
    expect(location).toMatchObject({
      file: 'src/kernels.ts',
      line: 6,
      column: 14,
    });
    expect(message).toContain('return x + missing;');
    expect(message).toMatch(/\n +\| +\^{7}/);
  });

  it('take names that the build defines, and stay as they are where nothing is a kernel', async () => {
    const { kernel, text } = await bundled(
      {
        'main.jsx': `import { cuda } from 'tsamba';
import { createElement as h } from 'react';
/** @jsx h */
export const View = ({ title }) => <b onClick={() => title.toUpperCase()}>{title}</b>;
export const kernel = cuda.jit((y) => { y[cuda.grid(1)] = SIZE; });
`,
      },
      { define: { SIZE: '64' } },
    );
    expect(launched(kernel, 1)).toEqual([64]);
    expect(text).not.toContain('onClick: ');
  });
});
