/**
 * jax-js' WebAssembly, on its own threads, where whole-array operations can say the same as a kernel: the same data, compiled by its
 * `jit`, results checked against plain JavaScript.
 */
import { NDArray } from 'tsamba';
import { median } from '../statistics.ts';
import { type Contest, difference, type HostArray } from './case.ts';
import { cases } from './cases.ts';

type Jax = typeof import('@jax-js/jax');
type JaxArray = ReturnType<Jax['numpy']['array']>;

/** By the names of the cases, of the first of the arrays that their launch is given. */
function expressions({ numpy: np, nn }: Jax): Readonly<Record<string, (...arrays: JaxArray[]) => JaxArray>> {
  return {
    saxpy: (x, y) => x.mul(1e-3).add(y),
    matvec: (a, x) => np.dot(a, x),
    'matmul-tiled': (a, b) => np.matmul(a, b),
    'sum-grid-stride': (x) => np.sum(x),
    'scan-shuffles': (x) => np.cumsum(x.reshape([-1, 256]), 1),
    softmax: (x) => nn.softmax(x, 1),
    'layer-norm-shuffles': (x, gain, shift) => nn.standardize(x, 1).mul(gain).add(shift),
  };
}

/** Milliseconds by the names of the cases, medians of the rounds. */
export async function jaxTimes(rounds: number): Promise<Record<string, number>> {
  const jax = await import('@jax-js/jax');
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  const medians: Record<string, number> = {};
  for (const [name, expression] of Object.entries(expressions(jax))) {
    const contest = (cases.find((c) => c.name === name) as (typeof cases)[number]).setUp();
    const inputs = arraysOf(jax, contest).slice(0, expression.length);
    const compiled = jax.jit(expression as (...a: JaxArray[]) => JaxArray);
    const times: number[] = [];
    for (let k = 0; k < rounds + 3; k++) {
      const start = performance.now();
      const result = compiled(...inputs.map((a) => a.ref));
      await result.blockUntilReady();
      if (k >= 3) times.push(performance.now() - start);
      const data = (await result.data()) as HostArray;
      if (k === 0) check(name, contest, data);
    }
    medians[name] = median(times);
  }
  return medians;
}

function arraysOf({ numpy: np }: Jax, contest: Contest): JaxArray[] {
  return contest.launches[0].args.flatMap((a) => {
    if (typeof a === 'number') return [];
    if (a instanceof NDArray) return [np.array(a.data as Float32Array).reshape([...a.shape])];
    return [np.array(a as Float32Array)];
  });
}

function check(name: string, contest: Contest, data: HostArray): void {
  contest.plain();
  const wrong = difference(data, contest.results[0], contest);
  if (wrong !== undefined) throw new Error(`jax-js, ${name}: ${wrong}`);
}
