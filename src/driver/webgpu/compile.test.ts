/**
 * WGSL as text: what kernels become, and what is refused. That it computes what it should, the conformance suite says (`test/conformance-webgpu.test.ts`).
 */
import { describe, expect, it } from 'vitest';
import { compileKernel } from '../../compiler/compile.ts';
import type { ArgType } from '../../compiler/contract.ts';
import { captureFunction } from '../../compiler/frontend/capture.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Stmt } from '../../compiler/ir/ops.ts';
import { mapLists, mapStmtExprs } from '../../compiler/ir/passes/walk.ts';
import { outcome, randomSample } from '../../compiler/ir/testing.ts';
import { verify } from '../../compiler/ir/verify.ts';
import { arity, evaluate, fromBits, MATH_FNS, mapKernel } from '../../compiler/math/testing.ts';
import type { WgslModule } from '../../compiler/render/wgsl/module.ts';
import { DEFAULTS } from '../../compiler/testing.ts';
import { cuda } from '../../cuda/namespace.ts';
import { f32, i32 } from '../../dtype/scalars.ts';
import type { Vec } from '../../kernel/types.ts';
import { compileWgsl, prepare } from './compile.ts';

function array(elem: ElemType): ArgType {
  return { kind: 'array', elem, ndim: 1, layout: 'C', unit: ELEM_SIZE[elem] };
}

/** The module of a kernel of arrays, all of which are parts of one buffer where `shared` says so. */
function wgsl(
  fn: (...args: never[]) => void,
  elems: readonly ElemType[],
  together = false,
  contract = true,
): WgslModule {
  const { kernel } = compileKernel(captureFunction(fn, { name: 'k' }), elems.map(array), {
    ...DEFAULTS,
    contract,
    name: 'k',
    checked: false,
  });
  const pointers = kernel.params.filter(({ type }) => type === 'ptr');
  const buffers = new Map(pointers.map(({ index }, k) => [index, together ? 0 : k]));
  const moved = new Set(together ? pointers.map(({ index }) => index) : []);
  return compileWgsl(kernel, { name: 'k', block: [64, 1, 1], sharedBytes: 0, buffers, moved, dispatch: 'whole' });
}

/** What a kernel of one array, `v`, is in WGSL, without the names of its variables. */
function bodyOf(fn: (v: Vec<f32>) => void): string {
  return wgsl(fn, ['f32']).text.replace(/\bv\d+_/g, '');
}

/** Each comparison of floats as `!(a >= b)` for `a < b`, which differ where one is NaN. */
function turned(list: readonly Stmt[]): readonly Stmt[] {
  const other = { lt: 'ge', le: 'gt', gt: 'le', ge: 'lt', eq: 'ne', ne: 'eq' } as const;
  const turn = (e: Expr): Expr =>
    e.op === 'compare' && e.a.type === 'f32'
      ? { op: 'unary', type: 'bool', fn: 'not', a: { ...e, fn: other[e.fn] } }
      : e;
  return list.map((s) => mapStmtExprs(mapLists(s, turned), turn));
}

describe('products', () => {
  const fn = (v: Vec<f32>) => {
    const product = f32(v[0] as number) * f32(v[1] as number);
    v[0] = product + f32(v[2] as number);
  };

  it('are hidden from sums in kernels that may not contract', () => {
    expect(wgsl(fn, ['f32'], false, false).text).toMatch(/= bitcast<f32>\(bitcast<u32>\(\(.* \* .*\)\) \| nothing\);/);
  });

  it('are written as they are in others', () => {
    expect(wgsl(fn, ['f32']).text).not.toContain('nothing');
  });
});

describe('functions of what is no number', () => {
  it.each([
    [
      'a constant',
      (v: Vec<f32>) => {
        v[0] = v[0] !== 1 ? 1 : 0;
      },
      1,
    ],
    [
      'a constant before it',
      (v: Vec<f32>) => {
        v[0] = 1 !== v[0] ? 1 : 0;
      },
      1,
    ],
    [
      'another value',
      (v: Vec<f32>) => {
        v[0] = v[1] !== v[2] ? 1 : 0;
      },
      2,
    ],
  ])('is unequal to %s, in bits', (_, fn, times) => {
    expect(bodyOf(fn).match(/is_nan\(bitcast/g)).toHaveLength(times);
  });

  const NAN = [0x7fc00000, 0x7f800001, 0x7fffffff, 0xffc00000, 0xff800001, 0xffffffff].map(fromBits);

  it.each(MATH_FNS.filter((fn) => arity(fn) === 1 && fn !== 'rsqrt'))(
    '%s keeps it, whatever the device says of comparisons',
    (fn) => {
      const kernel = prepare(mapKernel(fn), { block: [1, 1, 1] });
      for (const body of [kernel.body, turned(kernel.body)])
        for (const got of evaluate({ ...kernel, body }, Float32Array, [NAN])) expect(got).toBeNaN();
    },
  );

  it.each(['exp', 'exp2', 'log', 'log2', 'log10'] as const)('%s looks for it where arguments are rare', (fn) => {
    const { body } = prepare(mapKernel(fn), { block: [1, 1, 1] });
    const all = JSON.stringify(body);
    const usual = JSON.stringify(body.filter((s) => s.op !== 'if'));
    expect(all).toContain('isNaN');
    expect(usual).not.toContain('isNaN');
  });
});

describe('sums that are made for how they round', () => {
  const hidden = (name: string): string => `bitcast<f32>(bitcast<u32>(${name}) | nothing)`;

  it('are hidden from compilers, which would find that terms cancel out', () => {
    const kahan = bodyOf((v) => {
      let [sum, lost] = [f32(0), f32(0)];
      for (let k = 0; k < 9; k++) {
        const y = (v[k] as number) - lost;
        const t = sum + y;
        lost = t - sum - y;
        sum = t;
      }
      v[0] = sum;
    });
    expect(kahan).toContain(`(${hidden('t')} - sum)`);
    const twoSum = bodyOf((v) => {
      const [a, b] = [v[0] as number, v[1] as number];
      const s = a + b;
      const bb = s - a;
      v[2] = s;
      v[3] = a - (s - bb) + (b - bb);
    });
    expect(twoSum).toContain(`(${hidden('s')} - a)`);
    const rounded = bodyOf((v) => {
      v[0] = (v[0] as number) + f32(12582912) - f32(12582912);
    });
    expect(rounded).toContain('| nothing) - c_4b400000)');
  });

  it('cost nothing elsewhere', () => {
    const plain = bodyOf((v) => {
      let sum = f32(0);
      for (let k = 1; k < 9; k++) {
        const d = (v[k] as number) - (v[0] as number);
        sum += d * d;
        sum += d;
        sum -= v[k] as number;
      }
      v[0] = sum;
    });
    expect(plain).not.toContain('nothing');
  });
});

describe('constants of float arithmetic', () => {
  it('are hidden where compilers would bring two together', () => {
    const body = bodyOf((v) => {
      const x = v[0] as number;
      v[1] = f32(f32(x + f32(0.1)) + f32(0.2));
      const y = f32(x * f32(0.3));
      v[2] = f32(y * f32(0.7));
      v[3] = f32(x / f32(3));
      v[4] = f32(f32(x - f32(1.5)) * f32(0.9));
      v[5] = f32(x * f32(1.1)) + f32(x * f32(1.3));
    });
    // One of each pair; a divisor; both of a factor's.
    const hidden = [0.2, 0.7, 3, 0.9, 1.1, 1.3].map((c) => new DataView(Float32Array.of(c).buffer).getUint32(0, true));
    const names = hidden.map((bits) => `c_${bits.toString(16).padStart(8, '0')}`);
    expect([...new Set(body.match(/c_[0-9a-f]{8}/g))].sort()).toEqual(names.sort());
  });

  it('are hidden of sums that go round in a loop, and where they are 0', () => {
    const body = bodyOf((v) => {
      let sum = f32(0);
      for (let k = 1; k < 9; k++) sum = f32(sum + f32(0.1));
      v[0] = f32(sum + f32(f32(0) * (v[1] as number)));
    });
    expect(body).toContain('+ c_3dcccccd');
    expect(body).toContain('c_00000000 *');
  });

  it('stay as they are elsewhere', () => {
    const polynomial = bodyOf((v) => {
      const x = v[0] as number;
      v[1] = f32(f32(f32(f32(x * f32(0.1)) + f32(0.2)) * x + f32(0.3)) * x) + f32(0.4);
    });
    expect(polynomial).not.toContain('nothing');
  });
});

describe('barriers', () => {
  const barriersOf = (fn: (...args: never[]) => void): string[] =>
    wgsl(fn, ['f32', 'f32']).text.match(/\w+Barrier\(\);( \w+Barrier\(\);)?/g) ?? [];

  it('order what threads exchange: through workgroup memory, through a buffer, or both', () => {
    expect(
      barriersOf((x: Vec<f32>, y: Vec<f32>) => {
        const a = cuda.shared.array(64, f32);
        a[cuda.threadIdx.x] = x[cuda.threadIdx.x] as number;
        cuda.syncThreads();
        y[cuda.threadIdx.x] = a[63 - cuda.threadIdx.x] as number;
      }),
    ).toEqual(['workgroupBarrier();']);
    expect(
      barriersOf((x: Vec<f32>, y: Vec<f32>) => {
        y[cuda.threadIdx.x] = x[cuda.threadIdx.x] as number;
        cuda.syncThreads();
        y[cuda.threadIdx.x + 64] = y[63 - cuda.threadIdx.x] as number;
      }),
    ).toEqual(['storageBarrier();']);
    expect(
      barriersOf((x: Vec<f32>, y: Vec<f32>) => {
        const a = cuda.shared.array(64, f32);
        for (let k = 0; k < x.length; k++) {
          a[cuda.threadIdx.x] = y[k] as number;
          cuda.syncThreads();
          y[cuda.threadIdx.x] = a[63 - cuda.threadIdx.x] as number;
          cuda.syncThreads();
        }
      }),
    ).toEqual(['storageBarrier(); workgroupBarrier();', 'storageBarrier(); workgroupBarrier();']);
  });

  it('are barriers also where they order nothing', () => {
    expect(
      barriersOf((x: Vec<f32>, y: Vec<f32>) => {
        cuda.syncThreads();
        y[cuda.threadIdx.x] = x[cuda.threadIdx.x] as number;
      }),
    ).toEqual(['workgroupBarrier();']);
  });
});

describe('indices', () => {
  it('are what compilers know the range of: counters of loops, and constants of lists', () => {
    const { text } = wgsl(
      (x: Vec<f32>, y: Vec<f32>) => {
        const a = cuda.shared.array(64, f32);
        a[cuda.threadIdx.x] = x[cuda.threadIdx.x] as number;
        cuda.syncThreads();
        let sum = f32(0);
        for (let k = 0; k < 64; k++) {
          const j = 63 - k;
          sum += (a[k] as number) * (a[j] as number);
        }
        y[cuda.threadIdx.x] = sum;
      },
      ['f32', 'f32'],
    );
    expect(text).toMatch(/for \(var (v\d+_k): i32 = 0i; \(\1 < 64i\); \1 = \(\1 \+ 1i\)\)/);
    expect(text).toMatch(/a\d+_a\[v\d+_k\]/);
    expect(text).toContain('[i32(thread.x)]');
    // An array that begins where its buffer does has no base, one that does not has.
    expect(text).not.toContain('base_');
    expect(wgsl(copyFirst, ['f32', 'f32'], true).text).toContain('base_');
  });
});

const copyFirst = (x: Vec<f32>, y: Vec<f32>): void => {
  y[0] = x[0] as number;
};

describe('the passes before WGSL', () => {
  it('change nothing that a kernel does', () => {
    for (let seed = 400; seed < 410; seed++) {
      const sample = randomSample(seed);
      const kernel = prepare(sample.kernel, { block: sample.launch.block });
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});

describe('WGSL', () => {
  const copy = (x: Vec<number>, y: Vec<number>): void => {
    const i = cuda.grid(1);
    if (i < x.length) y[i] = x[i] as number;
  };

  it('binds words, one buffer for each array, and says which are written', () => {
    const { bindings, text } = wgsl(copy, ['f32', 'f32']);
    expect(bindings.map((b) => (b.kind === 'buffer' ? [b.buffer, b.written] : b.kind))).toEqual([
      'words',
      [0, false],
      [1, true],
    ]);
    expect(text).toContain('@workgroup_size(64, 1, 1)');
    expect(text).toContain('var<storage, read> buffer_0: array<u32>');
  });

  it('binds a buffer once that several arrays are in', () => {
    expect(wgsl(copy, ['f32', 'f32'], true).bindings).toHaveLength(2);
  });

  it('stores parts of words by atomic operations', () => {
    expect(wgsl(copy, ['u8', 'u8']).text).toMatch(/buffer_1: array<atomic<u32>>[\s\S]*atomicOr/);
  });

  it('refuses f64, naming the place and f32', () => {
    expect(() => wgsl(copy, ['f64', 'f64'])).toThrow(/kernel k .*f64[\s\S]*-->[\s\S]*help: use f32/);
  });
});

describe('shared arrays that are wanted together', () => {
  it('are vectors, stored and loaded at once', () => {
    const text = wgsl(
      (x: Vec<f32>, y: Vec<f32>, out: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, f32), cuda.shared.array(64, i32)];
        const t = cuda.threadIdx.x;
        a[t] = x[t] as number;
        b[t] = f32(y[t] as number) > 1 ? 2 : 3;
        cuda.syncThreads();
        let sum = f32(0);
        for (let k = 0; k < 64; k++) sum += (a[k] as number) * (b[k] as number);
        out[t] = sum;
      },
      ['f32', 'f32', 'f32'],
    ).text;
    expect(text).toMatch(/var<workgroup> (together_\d+_\d+): array<vec2<u32>, 64>;/);
    expect(text).toMatch(/together_\d+_\d+\[i32\(thread.x\)\] = vec2<u32>\(/);
    expect(text.match(/together_\d+_\d+\[v\d+_k\]\.[xy]/g)).toHaveLength(2);
  });

  it.each([
    [
      'one is read elsewhere',
      (v: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, f32), cuda.shared.array(64, f32)];
        const t = cuda.threadIdx.x;
        a[t] = v[t] as number;
        b[t] = v[t + 64] as number;
        cuda.syncThreads();
        v[t] = (a[63 - t] as number) + (b[t] as number);
      },
    ],
    [
      'one is stored alone',
      (v: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, f32), cuda.shared.array(64, f32)];
        const t = cuda.threadIdx.x;
        a[t] = v[t] as number;
        cuda.syncThreads();
        b[t] = v[t + 64] as number;
        cuda.syncThreads();
        v[t] = (a[63 - t] as number) + (b[63 - t] as number);
      },
    ],
    [
      'what is stored in one is what the other has',
      (v: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, f32), cuda.shared.array(64, f32)];
        const t = cuda.threadIdx.x;
        const s = 63 - t;
        a[t] = v[t] as number;
        b[t] = v[t + 64] as number;
        cuda.syncThreads();
        a[t] = f32(a[s] as number) + 1;
        b[t] = f32(b[s] as number) + f32(a[s] as number);
        v[t] = (a[t] as number) + (b[t] as number);
      },
    ],
    [
      'one counts atomically',
      (v: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, i32), cuda.shared.array(64, i32)];
        const t = cuda.threadIdx.x;
        a[t] = 0;
        b[t] = 0;
        cuda.syncThreads();
        cuda.atomic.add(a, t >> 1, 1);
        cuda.atomic.add(b, t >> 1, 1);
        cuda.syncThreads();
        v[t] = (a[t] as number) + (b[t] as number);
      },
    ],
    [
      'they differ in length',
      (v: Vec<f32>) => {
        const [a, b] = [cuda.shared.array(64, f32), cuda.shared.array(128, f32)];
        const t = cuda.threadIdx.x;
        a[t] = v[t] as number;
        b[t] = v[t] as number;
        cuda.syncThreads();
        v[t] = (a[63 - t] as number) + (b[63 - t] as number);
      },
    ],
  ] as const)('stay apart where %s', (_, fn) => {
    expect(wgsl(fn, ['f32']).text).not.toContain('together');
  });
});
