import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../required.testing.ts';
import {
  add,
  assign,
  at,
  barrier,
  block,
  breakTo,
  cast,
  continueTo,
  eq,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  read,
  ret,
  special,
  store,
  sub,
  unary,
  vote,
} from '../builder.ts';
import type { Value } from '../evaluate.ts';
import { interpret } from '../interpret.ts';
import type { ArraySym, Stmt, Var } from '../ops.ts';
import { randomSample, type Sample } from '../testing.ts';
import { checkBarriers } from './barriers.ts';
import { analyseUniformity, type Uniformity } from './uniformity.ts';

const tid = special('threadIdx.x');
const tidY = special('threadIdx.y');
const simd = { block: [32, 4, 1], lanes: 4 } as const;

describe('shapes of expressions', () => {
  const b = new KernelBuilder('shapes');
  const n = b.value('i32', 'n');
  const input = b.global('f32', 'input');
  const output = b.global('f32', 'output');
  const own = b.local('f32', 'own', 4);
  const kernel = b.build([store(at(output, tid), load(at(input, i32(0))))]);
  const u = analyseUniformity(kernel, simd);

  test('G, U, C and V', () => {
    expect(u.shape(mul(special('blockIdx.x'), n))).toBe('G');
    expect(u.shape(mul(tidY, n))).toBe('U');
    expect(u.shape(add(mul(special('blockIdx.x'), special('blockDim.x')), tid))).toBe('C');
    expect(u.shape(sub(tid, tidY))).toBe('C');
    expect(u.shape(sub(tidY, tid))).toBe('V');
    expect(u.shape(mul(tid, i32(2)))).toBe('V');
    expect(u.shape(lt(tid, n))).toBe('V');
    expect(u.shape(unary('uniform', tid))).toBe('G');
  });

  test('conversions keep consecutive values where nothing wraps', () => {
    expect(u.shape(cast('u32', add(tid, n)))).toBe('C');
    expect(u.shape(cast('i64', add(tid, i32(5))))).toBe('C');
    expect(u.shape(cast('i64', add(tid, n)))).toBe('V');
    expect(u.shape(cast('f32', tid))).toBe('V');
  });

  test('loads: what the kernel writes is the same in a vector only, local arrays not even that', () => {
    expect(u.shape(load(at(input, n)))).toBe('G');
    expect(u.shape(load(at(output, n)))).toBe('U');
    expect(u.shape(load(at(input, tidY)))).toBe('U');
    expect(u.shape(load(at(input, tid)))).toBe('V');
    expect(u.shape(load(at(own, n)))).toBe('V');
  });

  test('the block shape decides about threadIdx.y; without lanes there are only G and V', () => {
    expect(analyseUniformity(kernel, { block: [6, 4, 1], lanes: 4 }).shape(tidY)).toBe('V');
    expect(analyseUniformity(kernel, { block: [6, 1, 1], lanes: 4 }).shape(tidY)).toBe('G');
    expect(analyseUniformity(kernel, { block: [6, 4, 1], lanes: 1 }).shape(tid)).toBe('U');
    expect(analyseUniformity(kernel).shape(tidY)).toBe('V');
  });
});

describe('control', () => {
  test('what is assigned under a varying condition varies where it is read afterwards, and only there', () => {
    const b = new KernelBuilder('control');
    const out = b.global('i32', 'out');
    const [inside, after, untouched] = [
      b.variable('i32', 'inside'),
      b.variable('i32', 'after'),
      b.variable('i32', 'untouched'),
    ];
    const branch = ifElse(lt(tid, i32(3)), [assign(inside, i32(1)), assign(after, read(inside))]);
    const u = analyseUniformity(
      b.build([
        assign(after, i32(0)),
        assign(untouched, i32(7)),
        branch,
        store(at(out, tid), add(read(after), read(untouched))),
      ]),
      simd,
    );
    expect([inside, after, untouched].map((v) => u.varShape(v))).toEqual(['G', 'V', 'G']);
    expect(u.divergence(branch as Stmt & { op: 'if' })).toBe('V');
  });

  test('a counter of a loop that threads leave at different times stays uniform inside it', () => {
    const b = new KernelBuilder('count');
    const out = b.global('i32', 'out');
    const k = b.variable('i32', 'k');
    const body = [ifElse(lt(read(k), tid), [], [breakTo(0)]), store(at(out, tid), read(k))];
    const round = loop(0, body, [assign(k, add(read(k), i32(1)))]);
    const alone = analyseUniformity(b.build([assign(k, i32(0)), round]), simd);
    expect(alone.varShape(k)).toBe('G');
    expect(alone.divergence(round as Stmt & { op: 'loop' })).toBe('V');
    const readLater = analyseUniformity(b.build([assign(k, i32(0)), round, store(at(out, tid), read(k))]), simd);
    expect(readLater.varShape(k)).toBe('V');
  });

  test('vectors: what one arm assigns, the other must not see', () => {
    const b = new KernelBuilder('arms');
    const out = b.global('i32', 'out');
    const x = b.variable('i32', 'x');
    const body = [
      assign(x, i32(1)),
      ifElse(lt(tid, i32(3)), [assign(x, i32(2)), store(at(out, tid), read(x))], [store(at(out, tid), read(x))]),
    ];
    expect(analyseUniformity(b.build(body), simd).varShape(x)).toBe('V');
    expect(analyseUniformity(b.build(body)).varShape(x)).toBe('G');
  });
});

describe('blends: whether an assignment under a mask must keep what inactive lanes have', () => {
  function blend(make: (x: Var, set: Stmt, out: Stmt) => readonly Stmt[]): boolean {
    const b = new KernelBuilder('blend');
    const out = b.global('i32', 'out');
    const x = b.variable('i32', 'x');
    const set = assign(x, mul(tid, tid)) as Stmt & { op: 'assign' };
    const kernel = b.build(make(x, set, store(at(out, tid), read(x))));
    return analyseUniformity(kernel, simd).needsBlend(set);
  }
  const some = lt(tid, i32(3));
  const few = lt(tid, i32(2));

  test('read afterwards, or only under the same mask', () => {
    expect(blend((x, set, use) => [assign(x, i32(0)), ifElse(some, [set]), use])).toBe(true);
    expect(blend((_, set, use) => [ifElse(some, [set, use])])).toBe(false);
    expect(blend((x, set, use) => [assign(x, i32(0)), ifElse(some, [set], [use])])).toBe(true);
  });

  test('lanes that have left a loop, or wait for its update', () => {
    expect(blend((_, set, use) => [loop(0, [ifElse(some, [breakTo(0)]), set]), use])).toBe(true);
    expect(blend((_, set, use) => [loop(0, [ifElse(some, [breakTo(0)]), set, use])])).toBe(false);
    expect(
      blend((_, set, use) => [loop(0, [ifElse(some, [continueTo(0)]), set, ifElse(few, [breakTo(0)])], [use])]),
    ).toBe(true);
    expect(blend((_, set, use) => [block(0, [ifElse(some, [breakTo(0)]), set]), use])).toBe(true);
  });

  test('all lanes may have left a loop in which lanes part, with code still to come', () => {
    const all = lt(special('blockIdx.x'), i32(3));
    expect(
      blend((_, set, use) => [loop(0, [ifElse(all, [breakTo(0)]), set, ifElse(some, [continueTo(0)])]), use]),
    ).toBe(true);
    expect(blend((_, set, use) => [loop(0, [ifElse(all, [breakTo(0)]), set]), use])).toBe(false);
  });
});

describe('barriers', () => {
  function problems(make: (b: KernelBuilder) => readonly Stmt[]): string[] {
    const b = new KernelBuilder('legal');
    return checkBarriers(b.build(make(b))).map((p) =>
      [p.jump ?? 'condition', ...p.chain.map((r) => r.text)].join('; '),
    );
  }
  const g = special('blockIdx.x');

  test('legal: uniform conditions, after early returns, in uniform loops', () => {
    expect(problems(() => [ifElse(lt(tid, i32(3)), [ret()]), barrier()])).toEqual([]);
    expect(problems(() => [ifElse(lt(g, i32(3)), [barrier()], [barrier()])])).toEqual([]);
    expect(
      problems(() => [loop(0, [ifElse(lt(tid, i32(3)), [ret()]), barrier(), ifElse(lt(g, i32(1)), [breakTo(0)])])]),
    ).toEqual([]);
    expect(
      problems(() => [
        loop(0, [barrier(), ifElse(lt(tid, i32(1)), [continueTo(0)]), ifElse(lt(g, i32(1)), [])], [barrier()]),
      ]),
    ).toEqual([]);
    expect(problems(() => [block(0, [ifElse(lt(tid, i32(3)), [breakTo(0)])]), barrier()])).toEqual([]);
    expect(
      problems((b) => {
        const many = b.variable('i32', 'many');
        return [vote('count', lt(tid, i32(3)), many), ifElse(eq(read(many), i32(3)), [barrier()])];
      }),
    ).toEqual([]);
  });

  test('legal: conditions on shared memory that nobody stores to between two barriers', () => {
    expect(
      problems((b) => {
        const s = b.shared('i32', 's', 4);
        return [store(at(s, tid), tid), barrier(), steps(s)];
      }),
    ).toEqual([]);
    // Another element of the array is another place.
    expect(
      problems((b) => {
        const s = b.shared('i32', 's', 4);
        return [store(at(s, i32(1)), tid), ifElse(eq(load(at(s, i32(0))), i32(3)), [barrier()])];
      }),
    ).toEqual([]);
    // All dynamic arrays begin at the same place.
    expect(
      problems((b) => {
        const [s, d] = [b.shared('i32', 's'), b.shared('i32', 'd')];
        return [store(at(d, tid), tid), ifElse(eq(load(at(s, i32(0))), i32(3)), [barrier()])];
      }),
    ).toHaveLength(1);
  });

  /** Rounds while `s[0]` is not 3, which one thread stores between two barriers. */
  function steps(s: ArraySym): Stmt {
    return loop(0, [
      ifElse(eq(load(at(s, i32(0))), i32(3)), [breakTo(0)]),
      barrier(),
      ifElse(eq(tid, i32(0)), [store(at(s, i32(0)), i32(3))]),
      barrier(),
    ]);
  }

  test('illegal, with the reasons', () => {
    expect(problems(() => [ifElse(lt(tid, i32(3)), [barrier()])])).toEqual([
      'condition; threadIdx.x differs from thread to thread',
    ]);
    expect(
      problems((b) => {
        const [i, j] = [b.variable('i32', 'i'), b.variable('i32', 'j')];
        return [assign(i, add(tid, i32(1))), assign(j, read(i)), ifElse(lt(read(j), i32(3)), [barrier()])];
      }),
    ).toEqual([
      "condition; 'j' is computed from a value that varies; " +
        "'i' is computed from a value that varies; threadIdx.x differs from thread to thread",
    ]);
    expect(problems(() => [loop(0, [barrier(), ifElse(lt(tid, i32(3)), [breakTo(0)])])])[0]).toMatch(/^break/);
    expect(problems(() => [loop(0, [ifElse(lt(tid, i32(3)), [continueTo(0)]), barrier()])])[0]).toMatch(/^continue/);
    expect(problems(() => [block(0, [ifElse(lt(tid, i32(3)), [breakTo(0)]), barrier()])])).toHaveLength(1);
    expect(
      problems((b) => {
        const s = b.shared('i32', 's', 4);
        return [store(at(s, tid), tid), ifElse(eq(load(at(s, i32(0))), i32(3)), [barrier()])];
      })[0],
    ).toMatch(/'s' is written in this kernel/);
    // A barrier behind the read as well, or the next store may come before it; one before it alone does not do either.
    expect(
      problems((b) => {
        const s = b.shared('i32', 's', 4);
        return [
          loop(0, [ifElse(eq(load(at(s, i32(0))), i32(3)), [breakTo(0)]), store(at(s, tid), tid), barrier()]),
          barrier(),
        ];
      }),
    ).toHaveLength(1);
    expect(
      problems((b) => {
        const s = b.shared('i32', 's', 4);
        return [store(at(s, tid), tid), steps(s)];
      }),
    ).toHaveLength(2);
    expect(
      problems((b) => {
        const k = b.variable('i32', 'k');
        return [ifElse(lt(tid, i32(3)), [assign(k, i32(1))]), ifElse(eq(read(k), i32(1)), [barrier()])];
      }),
    ).toEqual(["condition; 'k' is assigned under a condition that varies; threadIdx.x differs from thread to thread"]);
  });
});

/** Holds the shapes of variables against what really was assigned: by the threads of a block, in the same round of all loops. */
function checkShapes(sample: Sample, u: Uniformity, lanes: number): number {
  const [bx] = sample.launch.block;
  const seen = new Map<string, Map<number, Value>>();
  interpret(sample.kernel, sample.launch, sample.args, sample.memory.slice(), {
    trace(s, value, thread, blockIndex, rounds) {
      const key = `${blockIndex} ${idOf(s)} ${rounds}`;
      const values = seen.get(key) ?? new Map<number, Value>();
      seen.set(key, values.set(thread, value));
      stmts.set(key, s);
    },
  });
  let checked = 0;
  for (const [key, values] of seen) {
    const v = stmts.get(key)?.var;
    const shape = v && u.varShape(v);
    if (!shape || shape === 'V') continue;
    for (const [thread, value] of values) {
      for (const [other, theirs] of values) {
        const together =
          Math.floor(thread / bx) === Math.floor(other / bx) &&
          Math.floor((thread % bx) / lanes) === Math.floor((other % bx) / lanes);
        if (shape !== 'G' && !together) continue;
        const apart = shape === 'C' ? BigInt(other - thread) : 0n;
        const same =
          shape === 'C' ? BigInt.asIntN(32, BigInt(theirs) - BigInt(value) - apart) === 0n : Object.is(value, theirs);
        if (!same)
          expect.fail(`${sample.name}: ${v.name} is ${shape}, but ${value} in ${thread} and ${theirs} in ${other}`);
        checked++;
      }
    }
  }
  return checked;
}

const ids = new Map<Stmt, number>();
function idOf(s: Stmt): number {
  const id = ids.get(s) ?? ids.size;
  ids.set(s, id);
  return id;
}

const stmts = new Map<string, Stmt & { op: 'assign' }>();

test('shapes hold for what random kernels really compute', () => {
  let checked = 0;
  const cases = randomCases(150);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed, { barriers: seed % 3 > 0, returns: seed % 2 > 0 });
    stmts.clear();
    checked += checkShapes(sample, analyseUniformity(sample.kernel, { block: sample.launch.block, lanes: 4 }), 4);
    checked += checkShapes(sample, analyseUniformity(sample.kernel), 1);
  }
  expect(checked).toBeGreaterThan(330 * cases);
});
