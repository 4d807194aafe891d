/**
 * Calls of intrinsics: geometry, barriers, memory spaces, atomics, and the integer and float functions of the vocabulary.
 */
import type { CallExpression } from 'acorn';
import type { AtomicOp, ElemType, MathFn } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, toIndex, truth } from './arithmetic.ts';
import { allocateView, capturedView, dynamicView, element, elementType, indexView } from './arrays.ts';
import { writable } from './assignments.ts';
import type { Context } from './context.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { describeValue, isLiteral, readLocal, type Scope, scalar, UNDEFINED, type Value } from './values.ts';
import { WARP_HANDLERS } from './warp-calls.ts';

export function callIntrinsic(
  ctx: Context,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const handler = HANDLERS[name];
  if (handler === undefined) {
    if (/^(thread|block|grid)(Idx|Dim)$|^laneId$|^warpSize$/.test(name))
      return fail('K314', pos, `${name} is a value, not a function`, { help: `${name}.x` });
    return fail('K330', pos, `cuda.${name} is not supported in this version`, {
      help: 'FEATURES.md lists what kernels can use',
    });
  }
  const args = elements(ctx, node.arguments, scope, pos);
  return handler({ ctx, name, args, node, scope, pos, discarded });
}

// ---------------------------------------------------------------- geometry

const AXES = ['x', 'y', 'z'] as const;

function special(name: 'threadIdx' | 'blockIdx' | 'blockDim' | 'gridDim', axis: number, pos: Pos): TExpr {
  return toIndex({ k: 'special', name: `${name}.${AXES[axis] ?? 'x'}`, pos });
}

function perAxis(call: Call, of: (axis: number) => TExpr): Value {
  count(call, 0, 1);
  const given = call.args[0];
  const n = given === undefined ? 1 : given.kind === 'scalar' && isLiteral(given.expr) ? given.expr.value : undefined;
  if (n !== 1 && n !== 2 && n !== 3)
    return fail('K331', call.pos, `cuda.${call.name} needs the number of dimensions as the constant 1, 2 or 3`);
  if (n === 1) return scalar(of(0));
  return {
    kind: 'tuple',
    items: Array.from({ length: n }, (_, k) => scalar(call.ctx.hold(of(k), `%${call.name}.${AXES[k] ?? ''}`))),
  };
}

const grid: Handler = (call) =>
  perAxis(call, (axis) => {
    const { pos } = call;
    return arith(
      'add',
      arith('mul', special('blockIdx', axis, pos), special('blockDim', axis, pos), pos),
      special('threadIdx', axis, pos),
      pos,
    );
  });

const gridSize: Handler = (call) =>
  perAxis(call, (axis) =>
    arith('mul', special('gridDim', axis, call.pos), special('blockDim', axis, call.pos), call.pos),
  );

// ---------------------------------------------------------------- barriers and fences

function barrier(kind: 'sync' | 'count' | 'and' | 'or'): Handler {
  return (call) => {
    const { ctx, pos } = call;
    count(call, kind === 'sync' ? 0 : 1);
    if (kind === 'sync') {
      ctx.emit({ k: 'barrier', kind, pos });
      return UNDEFINED;
    }
    const result = ctx.newLocal(`%${call.name}`, pos, true);
    ctx.emit({ k: 'barrier', kind, pred: truth(number(call, 0)), result, pos });
    return scalar(readLocal(result, pos));
  };
}

function fence(scope: 'block' | 'device' | 'system'): Handler {
  return (call) => {
    count(call, 0);
    call.ctx.emit({ k: 'fence', scope, pos: call.pos });
    return UNDEFINED;
  };
}

// ---------------------------------------------------------------- memory spaces

function shapeOf(call: Call): readonly number[] {
  const v = call.args[0];
  const dims = v?.kind === 'tuple' ? v.items : v === undefined ? [] : [v];
  return dims.map((d) => {
    if (d.kind !== 'scalar')
      return fail(
        'K332',
        call.pos,
        `the shape of cuda.${call.name} must be a number or a tuple of numbers, not ${describeValue(d)}`,
      );
    if (!isLiteral(d.expr) || typeof d.expr.value !== 'number') {
      return fail('K332', call.pos, `the shape of cuda.${call.name} must be known while compiling`, {
        help:
          call.name === 'shared.array'
            ? 'use a constant, or size 0 for dynamic shared memory sized by the launch (sharedBytes)'
            : 'use a constant',
      });
    }
    const n = d.expr.value;
    if (!Number.isInteger(n) || n < 0)
      return fail('K332', call.pos, `${n} is no length for cuda.${call.name}`, {
        help: 'lengths are positive integers',
      });
    return n;
  });
}

function dtypeOf(call: Call): ElemType {
  const v = call.args[1];
  if (v === undefined)
    return fail('K316', call.pos, `cuda.${call.name} needs a shape and an element type`, {
      help: `cuda.${call.name}(256, f32)`,
    });
  return elementType(v.kind === 'host' ? v.value : undefined, `cuda.${call.name}`, call.pos);
}

const sharedArray: Handler = (call) => {
  count(call, 2, 3);
  const { ctx, pos } = call;
  const shape = shapeOf(call);
  const elem = dtypeOf(call);
  if (shape.length === 1 && shape[0] === 0) {
    const view = dynamicView(ctx, elem, '%shared', pos);
    return { kind: 'view', view };
  }
  positive(call, shape);
  // One allocation for each place in the source, whoever inlines it.
  const key = `${ctx.nodeId(call.node)}:${shape.join('x')}:${elem}`;
  const known = ctx.sharedSites.get(key);
  const view = allocateView(ctx, 'shared', shape, elem, '%shared', pos);
  if (known === undefined) {
    ctx.sharedSites.set(key, view.root);
    return { kind: 'view', view };
  }
  ctx.roots.pop();
  return { kind: 'view', view: { ...view, root: known, name: known.name } };
};

const localArray: Handler = (call) => {
  count(call, 2, 3);
  const shape = shapeOf(call);
  const elem = dtypeOf(call);
  positive(call, shape);
  return { kind: 'view', view: allocateView(call.ctx, 'local', shape, elem, '%local', call.pos) };
};

function positive(call: Call, shape: readonly number[]): void {
  if (shape.some((n) => n <= 0)) {
    fail('K332', call.pos, `cuda.${call.name} of shape [${shape.join(', ')}] has no elements`, {
      help: 'lengths are positive; shared.array(0, dtype) of rank 1 is dynamic',
    });
  }
}

const constArray: Handler = (call) => {
  count(call, 1);
  const v = call.args[0];
  if (v?.kind === 'view' && v.view.root.space === 'constant') return v;
  if (v?.kind === 'tuple') {
    const numbers = v.items.map((x) =>
      x.kind === 'scalar' && isLiteral(x.expr) && typeof x.expr.value === 'number' ? x.expr.value : undefined,
    );
    if (numbers.every((x): x is number => x !== undefined)) {
      const view = capturedView(call.ctx, Float64Array.from(numbers), '%const', call.pos);
      if (view !== undefined) return { kind: 'view', view };
    }
  }
  return fail(
    'K333',
    call.pos,
    `cuda.const.arrayLike needs a host array captured from outside the kernel, not ${v === undefined ? 'nothing' : describeValue(v)}`,
    {
      help: 'define a typed array or an NDArray outside the kernel and name it here',
    },
  );
};

// ---------------------------------------------------------------- atomics

const ATOMIC_TYPES: Readonly<Record<AtomicOp, readonly ElemType[]>> = {
  add: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  sub: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  and: ['i32', 'u32', 'i64', 'u64'],
  or: ['i32', 'u32', 'i64', 'u64'],
  xor: ['i32', 'u32', 'i64', 'u64'],
  exch: ['i32', 'u32', 'i64', 'u64'],
  cas: ['i32', 'u32', 'i64', 'u64'],
  inc: ['u32', 'u64'],
  dec: ['u32', 'u64'],
  max: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  min: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  nanMax: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  nanMin: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
};

function atomic(fn: AtomicOp): Handler {
  return (call) => {
    const { ctx, pos } = call;
    const operands = fn === 'cas' ? 2 : 1;
    count(call, 2 + operands);
    const [array, index] = call.args;
    if (array?.kind !== 'view') {
      return fail(
        'K334',
        pos,
        `cuda.${call.name} needs an array first, not ${array === undefined ? 'nothing' : describeValue(array)}`,
        {
          help: `cuda.${call.name}(array, index, value)`,
        },
      );
    }
    const indices = index?.kind === 'tuple' ? index.items : index === undefined ? [] : [index];
    if (indices.length !== array.view.axes.length) {
      return fail(
        'K334',
        pos,
        `cuda.${call.name} needs ${array.view.axes.length} indices for ${array.view.name}, not ${indices.length}`,
        {
          help: array.view.axes.length > 1 ? `cuda.${call.name}(${array.view.name}, [i, j], value)` : undefined,
        },
      );
    }
    let view = array.view;
    for (const i of indices) view = indexView(ctx, view, ctx.scalar(i, pos, 'an index'), pos);
    const { elem } = view.root;
    if (view.root.space === 'local')
      return fail('K334', pos, 'local memory belongs to one thread: atomics have no use there', {
        help: 'read and write it plainly',
      });
    if (!ATOMIC_TYPES[fn].includes(elem)) {
      return fail('K335', pos, `cuda.${call.name} does not exist for ${elem}`, {
        help: `it exists for ${ATOMIC_TYPES[fn].join(', ')}`,
      });
    }
    const mem = writable(element(view, pos), pos);
    const args = Array.from({ length: operands }, (_, k) => number(call, 2 + k));
    const result = call.discarded ? undefined : ctx.newLocal(`%${call.name}`, pos, true);
    ctx.emit({ k: 'atomic', fn, mem, args, result, pos });
    return result === undefined ? UNDEFINED : scalar(readLocal(result, pos));
  };
}

// ---------------------------------------------------------------- numbers

function math(fn: MathFn | 'sqrt'): Handler {
  return (call) => {
    count(call, 1);
    return scalar({ k: 'math', fn, args: [number(call, 0)], pos: call.pos });
  };
}

function counted(fn: 'clz' | 'popc' | 'ffs' | 'brev'): Handler {
  return (call) => {
    count(call, 1);
    return scalar({ k: 'count', fn, a: number(call, 0), pos: call.pos });
  };
}

function pair(fn: 'fmin' | 'fmax' | 'copysign'): Handler {
  return (call) => {
    count(call, 2);
    return scalar({ k: 'minmax', fn, a: number(call, 0), b: number(call, 1), pos: call.pos });
  };
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...WARP_HANDLERS,
  grid,
  gridSize,
  syncThreads: barrier('sync'),
  syncThreadsCount: barrier('count'),
  syncThreadsAnd: barrier('and'),
  syncThreadsOr: barrier('or'),
  threadFence: fence('device'),
  threadFenceBlock: fence('block'),
  threadFenceSystem: fence('system'),
  'shared.array': sharedArray,
  'local.array': localArray,
  'const.arrayLike': constArray,
  ...Object.fromEntries((Object.keys(ATOMIC_TYPES) as AtomicOp[]).map((fn) => [`atomic.${fn}`, atomic(fn)])),
  uniform: (call) => {
    count(call, 1);
    return scalar({ k: 'uniform', a: number(call, 0), pos: call.pos });
  },
  selp: (call) => {
    count(call, 3);
    return scalar({ k: 'select', cond: truth(number(call, 0)), a: number(call, 1), b: number(call, 2), pos: call.pos });
  },
  fma: (call) => {
    count(call, 3);
    return scalar({ k: 'fma', args: [number(call, 0), number(call, 1), number(call, 2)], pos: call.pos });
  },
  rint: (call) => {
    count(call, 1);
    return scalar({ k: 'round', fn: 'rint', a: number(call, 0), pos: call.pos });
  },
  popc: counted('popc'),
  clz: counted('clz'),
  ffs: counted('ffs'),
  brev: counted('brev'),
  fmin: pair('fmin'),
  fmax: pair('fmax'),
  copysign: pair('copysign'),
  cbrt: math('cbrt'),
  rsqrt: math('rsqrt'),
  exp2: math('exp2'),
  erf: math('erf'),
  erfc: math('erfc'),
  tgamma: math('tgamma'),
  lgamma: math('lgamma'),
};
