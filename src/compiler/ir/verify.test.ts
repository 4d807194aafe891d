import { describe, expect, test } from 'vitest';
import { randomCases } from '../../required.testing.ts';
import { CLZ } from '../intrinsics/operations.ts';
import {
  add,
  assign,
  at,
  atomic,
  barrier,
  binary,
  bitcast,
  block,
  bool,
  breakTo,
  call,
  cast,
  compare,
  continueTo,
  f32,
  f64,
  fma,
  i32,
  i64,
  ifElse,
  intrinsic,
  KernelBuilder,
  load,
  loop,
  lt,
  not,
  print,
  read,
  ret,
  select,
  special,
  store,
  trap,
  u32,
  unary,
  vote,
} from './builder.ts';
import type { ArraySym, Expr, Kernel, Stmt } from './ops.ts';
import { formRegions } from './passes/regions.ts';
import { lowerReturns } from './passes/returns.ts';
import { simplify } from './passes/simplify.ts';
import { randomSample } from './testing.ts';
import { type Stage, verify } from './verify.ts';

const tid = special('threadIdx.x');

/** A kernel with one of everything that the bodies below name. */
function setting() {
  const b = new KernelBuilder('k');
  const ints = b.global('i32', 'ints');
  const floats = b.global('f32', 'floats');
  const bytes = b.shared('u8', 'bytes', 8);
  const table = b.constants('i32', 'table', new Uint8Array(8));
  const n = b.value('i32', 'n');
  const [i, f, q] = [b.variable('i32', 'i'), b.variable('f32', 'f'), b.variable('bool', 'q')];
  return { b, ints, floats, bytes, table, n, i, f, q };
}
type Setting = ReturnType<typeof setting>;

function problem(
  make: (s: Setting) => readonly Stmt[],
  options: Partial<Kernel> = {},
  stage: Stage = 'lowered',
): string {
  const s = setting();
  try {
    verify({ ...s.b.build(make(s)), ...options }, stage);
    return '';
  } catch (error) {
    const [line = ''] = String(error).split('\n');
    return line.replace('Error: internal error: kernel k is malformed: ', '');
  }
}

/** The fault of an expression, put in a place of its own type. */
function wrong(make: (s: Setting) => Expr): string {
  return problem((s) => [print([make(s)])]);
}

describe('well-formed kernels pass', () => {
  test('one of each', () => {
    expect(
      problem((s) => [
        assign(s.i, add(tid, s.n)),
        loop(0, [ifElse(lt(read(s.i), i32(3)), [continueTo(0)], [breakTo(0)])], [store(at(s.bytes, tid), tid)]),
        block(1, [loop(2, [breakTo(1)])]),
        atomic('cas', at(s.ints, i32(0)), [i32(1), i32(2)], s.i),
        vote('or', read(s.q), s.i),
        barrier(),
        assign(s.f, fma(f32(1), call('pow', f32(2), read(s.f)), cast('f16', f64(0.1)))),
        trap('end'),
      ]),
    ).toBe('');
  });

  test('random kernels, after every pass', () => {
    const cases = randomCases(120);
    for (let seed = 0; seed < cases; seed++) {
      const { kernel, launch } = randomSample(seed, { barriers: seed % 3 > 0, returns: true });
      verify(kernel);
      const simple = simplify(kernel, { block: launch.block });
      verify(simple);
      const lowered = lowerReturns(simple);
      verify(lowered.kernel, 'returns');
      verify(formRegions(lowered, { block: launch.block, lanes: 4 }).kernel, 'returns');
    }
  });
});

describe('expressions', () => {
  test('constants are in the representation of their type', () => {
    const constant = (type: string, value: unknown): string => wrong(() => ({ op: 'const', type, value }) as Expr);
    expect(constant('i32', 2 ** 31)).toBe('a constant 2147483648 (number) of type i32');
    expect(constant('i32', -0)).toMatch(/^a constant/);
    expect(constant('i32', 1n)).toMatch(/^a constant/);
    expect(constant('u32', -1)).toMatch(/^a constant/);
    expect(constant('i64', 1)).toMatch(/^a constant/);
    expect(constant('i64', 1n << 63n)).toMatch(/^a constant/);
    expect(constant('u64', -1n)).toMatch(/^a constant/);
    expect(constant('f32', 0.1)).toBe('a constant 0.1 (number) of type f32');
    expect(constant('f64', true)).toMatch(/^a constant/);
    expect(constant('bool', 1)).toMatch(/^a constant/);
    expect(constant('f32', Number.NaN)).toBe('');
  });

  test('operands and results have the types of the operation', () => {
    expect(wrong(() => add(i32(1), f32(1)))).toBe('add of i32 and f32');
    expect(wrong(() => ({ ...add(i32(1), i32(1)), type: 'f32' }) as Expr)).toBe('add of i32 gives f32');
    expect(wrong(() => binary('and', f32(1), f32(1)))).toBe('and of f32');
    expect(wrong(() => binary('add', bool(true), bool(true)))).toBe('add of bool');
    expect(wrong(() => binary('shl', f64(1), f64(1)))).toBe('shl of f64');
    expect(wrong(() => binary('copysign', i32(1), i32(1)))).toBe('copysign of i32');
    expect(wrong(() => compare('lt', i32(1), u32(1)))).toBe('lt of i32 and u32');
    expect(wrong(() => compare('lt', bool(true), bool(true)))).toBe('lt of bool');
    expect(wrong(() => unary('sqrt', i32(1)))).toBe('sqrt of i32');
    expect(wrong(() => intrinsic(CLZ, f32(1)))).toBe('clz of f32 gives f32');
    expect(wrong(() => not(f32(1)))).toBe('not of f32');
    expect(wrong(() => unary('neg', bool(true)))).toBe('neg of bool');
    expect(wrong(() => ({ ...unary('isNaN', f32(1)), type: 'f32' }) as Expr)).toBe('isNaN of f32 gives f32');
    expect(wrong(() => select(i32(1), i32(1), i32(1)))).toBe('select on i32');
    expect(wrong(() => select(bool(true), i32(1), u32(1)))).toBe('select of i32 and u32 gives i32');
    expect(wrong(() => ({ ...cast('u8', i32(1)), type: 'u32' }) as Expr)).toBe('a cast to u8 gives u32');
    expect(wrong(() => bitcast('i32', f64(1)))).toBe('the bits of f64 as i32');
    expect(wrong(() => fma(f32(1), f64(1), f32(1)))).toBe('fma of f32, f64, f32');
    expect(wrong(() => call('pow', f32(1)))).toBe('pow with 1 operands');
    expect(wrong(() => call('exp', i32(1)))).toBe('exp of i32 gives f32');
    expect(wrong((s) => ({ op: 'var', type: 'f32', var: s.i }))).toBe('i is i32, read as f32');
    expect(wrong(() => ({ op: 'param', type: 'i32', param: 9 }))).toBe('there is no parameter 9');
    expect(wrong(() => ({ op: 'param', type: 'i32', param: 0 }))).toBe('parameter ints is ptr, read as i32');
    expect(wrong(() => ({ op: 'special', type: 'i32', name: 'sharedBytes' }))).toBe('sharedBytes as i32');
  });

  test('inner ones too', () => {
    expect(wrong((s) => load(at(s.ints, add(i32(1), cast('i32', binary('or', f32(1), f32(1)))))))).toBe('or of f32');
    expect(wrong((s) => load(at(s.ints, tid, { checks: [{ index: f32(1), extent: f32(2), axis: 0 }] })))).toBe(
      'a check of f32 against f32',
    );
  });
});

describe('memory', () => {
  test('arrays, index width, scale, displacement, alignment', () => {
    const foreign: ArraySym = { id: 77, name: 'foreign', space: 'shared', elem: 'i32', length: 1, align: 4 };
    expect(wrong(() => load(at(foreign, tid)))).toBe('array foreign (id 77) is not declared');
    expect(wrong((s) => load(at(s.ints, i64(1))))).toBe('the index into ints is i64, not i32');
    expect(problem((s) => [print([load(at(s.ints, tid))])], { indexBits: 64 })).toBe(
      'the index into ints is i32, not i64',
    );
    expect(wrong((s) => load({ ...at(s.ints, tid), scale: 0 }))).toBe('scale 0');
    expect(wrong((s) => load({ ...at(s.ints, tid), disp: 0.5 }))).toBe('displacement 0.5');
    expect(wrong((s) => load({ ...at(s.bytes, tid), elem: 'i32' }))).toBe(
      'i32 elements in bytes, which is aligned to 1',
    );
    expect(wrong((s) => ({ ...load(at(s.ints, tid)), type: 'f32' }) as Expr)).toBe('a load of i32 gives f32');
    expect(problem((s) => [store(at(s.table, tid), tid)])).toBe('a store to constant memory');
    expect(problem((s) => [store(at(s.bytes, tid), f32(1))])).toBe('the value is f32, not i32');
  });

  test('declarations of arrays', () => {
    const declared = (change: (a: ArraySym) => ArraySym, which = 0): string => {
      const { b } = setting();
      b.arrays.splice(which, 1, change(b.arrays[which] as ArraySym));
      return problem(() => [], { arrays: b.arrays });
    };
    expect(declared((a) => ({ ...a, param: undefined }))).toBe('array ints: only global arrays have a parameter');
    expect(declared((a) => ({ ...a, param: 2 }))).toBe('array ints: parameter 2 is no pointer');
    expect(declared((a) => ({ ...a, id: 1 }))).toBe('two arrays share an id');
    expect(declared((a) => ({ ...a, align: 2 }))).toBe('array ints: alignment 2 for elements of 4 bytes');
    expect(declared((a) => ({ ...a, align: 12 }))).toBe('array ints: alignment 12 for elements of 4 bytes');
    expect(declared((a) => ({ ...a, length: -1 }), 2)).toBe('array bytes has length -1');
    expect(declared((a) => ({ ...a, dynamic: true }), 2)).toMatch(/^array bytes: only a shared array without/);
    expect(declared((a) => ({ ...a, length: 3 }), 3)).toBe('constant array table: 8 bytes of data for 3 elements');
  });

  test('atomics', () => {
    expect(problem((s) => [atomic('add', at(s.table, tid), [tid])])).toBe('an atomic operation on constant memory');
    expect(problem((s) => [atomic('add', at(s.bytes, tid), [tid])])).toBe('an atomic operation on u8 elements');
    expect(problem((s) => [atomic('cas', at(s.ints, tid), [tid])])).toBe('atomic.cas with 1 operands');
    expect(problem((s) => [atomic('add', at(s.ints, tid), [f32(1)])])).toBe('the operand is f32, not i32');
    expect(problem((s) => [atomic('xor', at(s.floats, tid), [f32(1)])])).toBe('atomic.xor on f32 elements');
    expect(problem((s) => [atomic('nanMax', at(s.ints, tid), [tid])])).toBe('atomic.nanMax on i32 elements');
    expect(problem((s) => [atomic('add', at(s.ints, tid), [tid], s.f)])).toBe(
      'the result goes to f, which is f32, not i32',
    );
  });
});

describe('statements', () => {
  test('labels', () => {
    expect(problem(() => [breakTo(3)])).toBe('break of L3, which does not enclose it');
    expect(problem(() => [block(0, []), loop(1, [breakTo(0)])])).toBe('break of L0, which does not enclose it');
    expect(problem(() => [block(0, [continueTo(0)])])).toBe('continue of L0, which is no loop body');
    expect(problem(() => [loop(0, [], [continueTo(0)])])).toBe('continue of L0, which is no loop body');
    expect(problem(() => [block(0, []), loop(0, [])])).toBe('label L0 is used twice');
  });

  test('variables, conditions, results', () => {
    expect(problem((s) => [assign(s.i, f32(1))])).toBe('the value is f32, not i32');
    expect(problem((s) => [assign({ ...s.i }, tid)])).toBe('variable i (id 0) is not declared');
    expect(problem((s) => [print([read({ ...s.i })])])).toBe('variable i (id 0) is not declared');
    expect(
      problem((_s) => [], {
        vars: [
          { id: 1, name: 'a', type: 'i32' },
          { id: 1, name: 'b', type: 'i32' },
        ],
      }),
    ).toBe('two variables share an id');
    expect(
      problem(() => [], {
        params: [{ index: 4, name: 'p', type: 'i32', origin: { kind: 'value', path: [0] } }],
        arrays: [],
      }),
    ).toBe('parameter p has index 4 at 0');
    expect(problem(() => [ifElse(i32(1), [])])).toBe('the condition is i32, not bool');
    expect(problem((s) => [vote('and', tid, s.i)])).toBe('the predicate is i32, not bool');
    expect(problem((s) => [vote('and', bool(true), s.f)])).toBe('the result goes to f, which is f32, not i32');
    expect(problem((s) => [{ ...barrier(), pred: read(s.q) } as Stmt])).toMatch(/^sync has neither/);
    const twice = trap('x');
    expect(problem(() => [twice, twice])).toBe('a statement stands in two places');
  });

  test('what a stage has removed must be gone', () => {
    expect(problem(() => [ifElse(bool(true), [ret()])])).toBe('');
    expect(problem(() => [ifElse(bool(true), [ret()])], {}, 'returns')).toBe('a return after return lowering');
    expect(problem(() => [barrier()], {}, 'returns')).toBe('');
    expect(problem(() => [barrier()], {}, 'regions')).toBe('a barrier within a region');
  });

  test('the message quotes the statement', () => {
    const { b, i } = setting();
    expect(() => verify(b.build([assign(i, f32(2))]))).toThrow('the value is f32, not i32\ni = 2f32');
  });
});
