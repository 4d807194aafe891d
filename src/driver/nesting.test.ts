/**
 * Deeply nested kernels: the time to compile them and the size of their code grow with the depth, and do not double with each level.
 *
 * At a depth of 48 no test would come to its end if any pass went through the inner levels twice for each outer one.
 */
import { describe, expect, it } from 'vitest';
import { compileKernel } from '../compiler/compile.ts';
import { captureFunction } from '../compiler/frontend/capture.ts';
import type { Kernel } from '../compiler/ir/ops.ts';
import { DEFAULTS, run } from '../compiler/testing.ts';
import { cuda } from '../index.ts';
import { wasmPipeline } from './cpu/compile.ts';
import { ptxPipeline } from './nvidia/compile.ts';
import { openclCode } from './opencl/offline.ts';
import { emitKernel } from './simulator/emit.ts';

type Nested = (depth: number) => string;

/** `levels` of `wrap` around `innermost`, the first level outermost. */
function nest(levels: number, innermost: string, wrap: (inner: string, level: number) => string): string {
  let code = innermost;
  for (let level = levels - 1; level >= 0; level--) code = wrap(code, level);
  return code;
}

const body = (code: string): string => `const t = cuda.grid(1); let acc = 0; if (t < x.length) { ${code} x[t] = acc; }`;

const SHAPES: Readonly<Record<string, Nested>> = {
  loops: (n) => body(nest(n, 'acc += x[t];', (s, k) => `for (let i${k} = 0; i${k} < m; i${k}++) { ${s} }`)),
  'loops left early': (n) =>
    body(nest(n, 'acc += x[t];', (s, k) => `let i${k} = m; while (i${k} > 0) { if (acc > 1e9) break; ${s} i${k}--; }`)),
  'loops of rounds that vary': (n) =>
    body(nest(n, 'acc += x[t];', (s, k) => `for (let i${k} = 0; i${k} < t % 2; i${k}++) { ${s} acc *= 0.5; }`)),
  'loops that store': (n) =>
    body(nest(n, 'x[t + i0] *= 2;', (s, k) => `for (let i${k} = 0; i${k} < m; i${k}++) { x[t] += i${k}; ${s} }`)),
  'loops around barriers': (n) =>
    `const t = cuda.grid(1); ${nest(n, 'x[t] += 1;', (s, k) => `for (let i${k} = 0; i${k} < m; i${k}++) { ${s} cuda.syncThreads(); }`)}`,
  ifs: (n) => body(nest(n, 'acc += 1;', (s, k) => `if (x[t] > ${k}) { ${s} } else { acc -= ${k}; }`)),
  'loops and ifs': (n) =>
    body(
      nest(n, 'acc += x[t];', (s, k) =>
        k % 2 === 1
          ? `if (acc > ${k}) { ${s} }`
          : `for (let i${k} = 0; i${k} < m; i${k}++) { if (x[t] > 9) continue; ${s} }`,
      ),
    ),
  'labelled blocks': (n) =>
    body(nest(n, 'acc += 1;', (s, k) => `L${k}: { if (acc > ${k}) break L${k}; ${s} acc += 1; }`)),
  ternaries: (n) => body(`acc = ${nest(n, 'x[t]', (s, k) => `(x[t] > ${k} ? ${s} : (acc += ${k}))`)};`),
  switches: (n) =>
    body(
      nest(
        n,
        'acc += x[t];',
        (s, k) => `switch (m) { case ${k}: { ${s} } case ${k + 1}: acc++; break; default: acc--; }`,
      ),
    ),
  calls: (n) =>
    body(
      `const f${n} = (v) => v + 1; ${nest(n, '', (s, k) => `${s} const f${k} = (v) => { if (v > ${k}) return v; return f${k + 1}(v) * 2; };`)} acc = f0(x[t]);`,
    ),
  'calls of calls': (n) =>
    body(`const f = (v) => { if (v > 3) return v; return v * 2; }; acc = ${nest(n, 'x[t]', (s) => `f(${s})`)};`),
  closures: (n) =>
    body(
      `const g = () => { ${nest(n, 'return acc + x[t];', (s, k) => `const g${k} = (v) => { ${s} }; return g${k}(${k}) + 1;`)} }; acc = g();`,
    ),
  conditions: (n) =>
    body(`if (${nest(n, 'x[t] > 0', (s, k) => `(x[t] < ${k} ${k % 2 === 1 ? '&&' : '||'} ${s})`)}) acc = 1;`),
};

function compiled(nested: Nested, depth: number): Kernel {
  const fn = new Function('cuda', `return (x, m) => { ${nested(depth)} }`)(cuda) as (...args: never[]) => unknown;
  return compileKernel(
    captureFunction(fn),
    [
      { kind: 'array', elem: 'f32', ndim: 1, layout: 'C', unit: 4 },
      { kind: 'scalar', type: 'i32' },
    ],
    { ...DEFAULTS, debug: false },
  ).kernel;
}

const TARGETS: Readonly<Record<string, (kernel: Kernel) => number>> = {
  wasm: (kernel) => {
    const variant = { block: [128, 1, 1], lanes: 4, memory64: false, concurrent: false } as const;
    return wasmPipeline.compile(wasmPipeline.prepare(kernel), variant).bytes.length;
  },
  PTX: (kernel) =>
    ptxPipeline.compile(kernel, { capability: 90, isa: [8, 0] }, { name: 'k', aliased: true }).text.length,
  'OpenCL C': (kernel) => openclCode.show({ kernel }, undefined).length,
  JavaScript: (kernel) => emitKernel(kernel).scripts.reduce((sum, { text }) => sum + text.length, 0),
};

describe.each(Object.keys(SHAPES))('%s', (name) => {
  const nested = SHAPES[name] as Nested;

  it.each(Object.keys(TARGETS))('48 levels become %s in proportion to 24', (target) => {
    const size = TARGETS[target] as (kernel: Kernel) => number;
    const [half, whole] = [size(compiled(nested, 24)), size(compiled(nested, 48))];
    // In the simulator each loop names all variables, so that it is noticed when none changes any more.
    expect(whole).toBeLessThan((target === 'JavaScript' ? 3.3 : 2.25) * half);
  });
});

it('a nest of loops counts', () => {
  const code = nest(8, 'x[0] += i0 * i7;', (s, k) => `for (let i${k} = 0; i${k} < m; i${k}++) { ${s} }`);
  const x = new Int32Array(1);
  run(new Function('x', 'm', code) as (...args: never[]) => unknown, [x, 2]);
  expect(x[0]).toBe(64);
});
