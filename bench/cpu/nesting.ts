/**
 * What deep nesting costs to compile: nests of loops on the CPU device, and as PTX and OpenCL C. Time and size should double with the depth.
 */
import { cuda } from 'tsamba';

export interface Nesting {
  readonly depth: number;
  /** From `launch` to the end of the kernel, which makes no rounds: the first of this depth, and the median of ten. Milliseconds. */
  readonly first: number;
  readonly hot: number;
  /** Milliseconds and characters of the text. */
  readonly ptx: readonly [ms: number, size: number];
  readonly opencl: readonly [ms: number, size: number];
}

type Kernel = (x: unknown, m: number) => void;

function nested(depth: number, salt: number): Kernel {
  let body = `acc += x[t] * ${salt};`;
  for (let k = depth - 1; k >= 0; k--) body = `for (let i${k} = 0; i${k} < m; i${k}++) { ${body} }`;
  const text = `(x, m) => { const t = cuda.grid(1); let acc = 0; if (t < x.length) { ${body} x[t] = acc; } }`;
  return new Function('cuda', `return ${text}`)(cuda) as Kernel;
}

function time<T>(f: () => T): readonly [ms: number, result: T] {
  const start = performance.now();
  const result = f();
  return [performance.now() - start, result];
}

export function nesting(): Nesting[] {
  const x = cuda.toDevice(new Float32Array(128));
  const m = cuda.scalar('int32', 0);
  return [8, 16, 32, 64].map((depth) => {
    const times: number[] = [];
    let kernel = cuda.jit(nested(depth, 1));
    for (let k = 0; k < 11; k++) {
      kernel = cuda.jit(nested(depth, k + 1));
      times.push(time(() => kernel.launch({ grid: 1, block: 128 }, x, m as never))[0]);
    }
    const text = (target: 'ptx' | 'opencl'): readonly [number, number] => {
      const [ms, code] = time(() => String(kernel.inspect(target === 'ptx' ? { target, arch: 'sm_90' } : { target })));
      return [ms, code.length];
    };
    const hot = times.slice(1).sort((a, b) => a - b)[5] as number;
    return { depth, first: times[0] as number, hot, ptx: text('ptx'), opencl: text('opencl') };
  });
}
