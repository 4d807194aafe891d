import { describe, expect, it } from 'vitest';
import { compileFor } from '../../compiler/testing.ts';
import { cuda } from '../../cuda/index.ts';
import type { f32 } from '../../dtype/index.ts';
import type { Vec } from '../../kernel/types.ts';
import { wasmPipeline } from './compile.ts';
import { factsOf } from './facts.ts';
import { LaunchWork } from './launch-work.ts';

type Kernel = (y: Vec<f32>, n: number) => void;

/** Milliseconds that a launch of four blocks of eight threads is told to take on an array of sixteen elements, by the number it gets. */
function asked(fn: Kernel): (n: number) => number | undefined {
  const { kernel } = compileFor(fn, [new Float32Array(16), 1]);
  const prepared = wasmPipeline.prepare(kernel);
  const work = new LaunchWork(prepared, factsOf(prepared));
  const shape = { grid: [4, 1, 1], block: [8, 1, 1] } as const;
  const values = (n: number) =>
    kernel.params.map(({ origin: { kind } }) => (kind === 'extent' ? 16 : kind === 'value' ? n : 4096));
  return (n) => work.milliseconds(shape, values(n));
}

/** Loops, and the rounds that each makes at most. */
const told: readonly (readonly [string, Kernel, (n: number) => number])[] = [
  [
    'up to a number',
    (y, n) => {
      for (let k = 0; k < n; k++) y[k] = 1;
    },
    (n) => n,
  ],
  [
    'up to a number and with it',
    (y, n) => {
      for (let k = 0; k <= n; k++) y[k] = 1;
    },
    (n) => n + 1,
  ],
  [
    'down from a number',
    (y, n) => {
      for (let k = n; k > 0; k--) y[k] = 1;
    },
    (n) => n,
  ],
  [
    'in steps',
    (y, n) => {
      for (let k = 0; k < n; k += 4) y[k] = 1;
    },
    (n) => Math.ceil(n / 4),
  ],
  [
    'by arithmetic on it',
    (y, n) => {
      const m = Math.min(3 * n + 2, 50);
      for (let k = 0; k < m; k++) y[k] = 1;
    },
    (n) => Math.min(3 * n + 2, 50),
  ],
  [
    'from the thread on, to the end of the grid',
    (y, n) => {
      for (let k = cuda.threadIdx.x; k < n + cuda.gridDim.x * cuda.blockDim.x; k++) y[k] = 1;
    },
    (n) => n + 32,
  ],
  [
    'from the place of the thread back',
    (y, n) => {
      for (let k = cuda.grid(1) + n; k >= 0; k--) y[k] = 1;
    },
    (n) => n + 32,
  ],
  [
    'of which a guard lets few threads make any',
    (y, n) => {
      if (cuda.grid(1) < 1) for (let k = 0; k < n; k++) y[k] = 1;
    },
    (n) => n,
  ],
];

/** Loops of as many rounds as only threads know. */
const untold: readonly (readonly [string, Kernel])[] = [
  [
    'to a bound in memory',
    (y, n) => {
      for (let k = 0; k < (y[0] as number); k++) y[k] = n;
    },
  ],
  [
    'to a bound that a branch changes',
    (y, n) => {
      let m = n;
      if ((y[0] as number) > 1) {
        y[2] = 1;
        m = (y[1] as number) | 0;
      }
      for (let k = 0; k < m; k++) y[k] = 1;
    },
  ],
  [
    'to a bound that an outer loop changes',
    (y, n) => {
      let m = 1;
      for (let j = 0; j < n; j++) {
        for (let k = 0; k < m; k++) y[k] = 1;
        m *= 2;
      }
    },
  ],
  [
    'until something is reached',
    (y, n) => {
      let sum = 0;
      while (sum < n) sum += y[0] as number;
      y[1] = sum;
    },
  ],
  [
    'by what an earlier loop has counted',
    (y, n) => {
      let k = 0;
      for (; k < n; k++) if ((y[k] as number) > 1) break;
      for (; k < 16; k++) y[k] = 1;
    },
  ],
];

describe('what the arguments of a launch say of its loops', () => {
  it.each(told)('%s: rounds', (_, kernel, rounds) => {
    const of = asked(kernel);
    const at = (n: number): number => of(n) ?? Number.NaN;
    const slope = (at(1) - at(0)) / (rounds(1) - rounds(0));
    expect(slope).toBeGreaterThan(0);
    for (const n of [4, 8, 20, 1000]) expect((at(n) - at(0)) / slope).toBeCloseTo(rounds(n) - rounds(0), 6);
  });

  it('counts inner rounds as often as outer ones', () => {
    const of = asked((y, n) => {
      for (let j = 0; j < n; j++) for (let k = 0; k < j; k++) y[k] = 1;
    });
    expect((of(2000) ?? 0) / (of(1000) ?? 0)).toBeCloseTo(4, 1);
  });

  it('counts the round at the bound', () => {
    const within = asked((y, n) => {
      for (let k = 0; k <= n; k++) y[k] = 1;
    });
    const below = asked((y, n) => {
      for (let k = 0; k < n; k++) y[k] = 1;
    });
    expect(within(5)).toBe(below(6));
  });

  it('counts the elements of arrays', () => {
    const elements = asked((y, _n) => {
      for (let k = 0; k < y.length; k++) y[k] = 1;
    });
    const number = asked((y, n) => {
      for (let k = 0; k < n; k++) y[k] = 1;
    });
    expect(elements(0)).toBe(number(16));
  });

  it.each(untold)('nothing %s', (_, kernel) => {
    expect(asked(kernel)(3)).toBeUndefined();
  });

  it('nothing where there is none', () => {
    const of = asked((y, n) => {
      y[0] = n;
    });
    expect(of(3)).toBeUndefined();
  });
});
