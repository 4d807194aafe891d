/**
 * Functions that the text brings along: operations that OpenCL C leaves undefined in some corner, or does not have.
 *
 * Each is written once, for a type; render.ts puts those that are used at the top of the program.
 */
import type { ValueType } from '../../ir/ops.ts';
import { type Gen, Level, typeOf, unsignedOf, within } from './code.ts';
import { blockAlong, blocksAlong, positionArguments } from './grid-positions.ts';

/** What a helper's text is made from. */
interface Words {
  /** The type. */
  readonly T: string;
  /** The unsigned integer of its width. */
  readonly U: string;
  readonly bits: 32 | 64;
  /** A float constant of the type. */
  readonly c: (value: string) => string;
  readonly isSigned: boolean;
}

interface Helper {
  readonly params: 1 | 2;
  /** `T` unless said. */
  readonly result?: (w: Words) => string;
  readonly body: (w: Words) => string;
}

const SIGNED: Readonly<Record<string, (w: Words) => string>> = {
  div: ({ T, U }) => `if (b == 0) return 0; if (b == -1) return (${T})(0 - (${U})a); return a / b;`,
  rem: () => 'if (b == 0 || b == -1) return 0; return a % b;',
  floordiv: ({ T, U }) =>
    `if (b == 0) return 0; if (b == -1) return (${T})(0 - (${U})a); ${T} q = a / b; return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;`,
};

const UNSIGNED: Readonly<Record<string, string>> = {
  div: 'return b == 0 ? 0 : a / b;',
  rem: 'return b == 0 ? 0 : a % b;',
};

function division(name: 'div' | 'rem' | 'floordiv'): Helper {
  return { params: 2, body: (w) => (w.isSigned ? SIGNED[name]?.(w) : UNSIGNED[name]) ?? '' };
}

/** A float converted to an integer type: truncated, saturated, NaN as 0. The bounds are exact in both float types. */
function saturating(T: string, above: string, [lowest, highest]: readonly [string, string]): Helper {
  return {
    params: 1,
    result: () => T,
    body: ({ c }) => {
      const below = lowest.startsWith('0') ? '!(a > 0) ? 0' : `a != a ? 0 : a < -${c(above)} ? ${lowest}`;
      return `return ${below} : a >= ${c(above)} ? ${highest} : (${T})a;`;
    },
  };
}

export type HelperName =
  | 'div'
  | 'rem'
  | 'floordiv'
  | 'ipow'
  | 'sign'
  | 'min'
  | 'max'
  | 'fmin'
  | 'fmax'
  | 'atMost'
  | 'atLeast'
  | 'round'
  | 'truth'
  | 'to_i32'
  | 'to_u32'
  | 'to_i64'
  | 'to_u64';

const HELPERS: Readonly<Record<HelperName, Helper>> = {
  div: division('div'),
  rem: division('rem'),
  floordiv: division('floordiv'),
  ipow: {
    params: 2,
    body: ({ T, U, isSigned }) =>
      `${isSigned ? 'if (b < 0) return 0; ' : ''}${U} r = 1, s = (${U})a; for (${U} e = (${U})b; e != 0; e >>= 1) { if (e & 1) r *= s; s *= s; } return (${T})r;`,
  },
  sign: { params: 1, body: ({ T }) => `return a > 0 ? (${T})1 : a < 0 ? (${T})-1 : a;` },
  // Of equal numbers only zeros differ, in the sign.
  min: {
    params: 2,
    body: ({ T, U }) =>
      `if (a != a) return a; if (b != b) return b; return a == b ? as_${T}(as_${U}(a) | as_${U}(b)) : a < b ? a : b;`,
  },
  max: {
    params: 2,
    body: ({ T, U }) =>
      `if (a != a) return a; if (b != b) return b; return a == b ? as_${T}(as_${U}(a) & as_${U}(b)) : a > b ? a : b;`,
  },
  fmin: {
    params: 2,
    body: ({ T, U }) =>
      `if (a != a) return b; if (b != b) return a; return a == b ? as_${T}(as_${U}(a) | as_${U}(b)) : a < b ? a : b;`,
  },
  fmax: {
    params: 2,
    body: ({ T, U }) =>
      `if (a != a) return b; if (b != b) return a; return a == b ? as_${T}(as_${U}(a) & as_${U}(b)) : a > b ? a : b;`,
  },
  // fmin and fmax with a number that is neither NaN nor the zero that should give way: one instruction.
  atMost: { params: 2, body: () => 'return a < b ? a : b;' },
  atLeast: { params: 2, body: () => 'return a > b ? a : b;' },
  // Half up: down, and one up again where at least a half was lost. The sign is the operand's, also of a zero.
  round: {
    params: 1,
    body: ({ T, c }) => `${T} r = floor(a); return copysign(a - r >= ${c('0.5')} ? r + ${c('1.0')} : r, a);`,
  },
  truth: { params: 1, result: () => 'bool', body: () => 'return a < 0 || a > 0;' },
  to_i32: saturating('int', '2147483648.0', ['(-2147483647 - 1)', '2147483647']),
  to_u32: saturating('uint', '4294967296.0', ['0u', '4294967295u']),
  to_i64: saturating('long', '9223372036854775808.0', ['(-9223372036854775807L - 1L)', '9223372036854775807L']),
  to_u64: saturating('ulong', '18446744073709551616.0', ['0UL', '18446744073709551615UL']),
};

/** The name of a helper of a type, which is from now on part of the text. */
export function helper(g: Gen, name: HelperName, type: ValueType): string {
  const h = HELPERS[name];
  const full = `${name}_${type}`;
  if (g.helpers.has(full)) return full;
  const T = typeOf(type);
  const w: Words = {
    T,
    U: unsignedOf(type),
    bits: unsignedOf(type) === 'ulong' ? 64 : 32,
    c: (value) => (type === 'f32' ? `${value}f` : value),
    isSigned: type === 'i32' || type === 'i64',
  };
  const params = h.params === 1 ? `${T} a` : `${T} a, ${T} b`;
  return define(g, full, `${h.result?.(w) ?? T} ${full}(${params}) { ${h.body(w)} }`);
}

/** Adds a function to the text, under its name. */
export function define(g: Gen, name: string, text: string): string {
  if (!g.helpers.has(name)) g.helpers.set(name, `${functionStart(g)}${text}`);
  return name;
}

function functionStart(g: Gen): string {
  return g.target.dialect === 'hip' ? 'static inline __device__ ' : 'static inline ';
}

/** The number of the thread in its block, and of the block in the grid. */
export function threadNumber(g: Gen): string {
  const body =
    'return (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));';
  return `${define(g, 'thread_number', `uint thread_number(void) { ${body} }`)}()`;
}

export function blockNumber(g: Gen): string {
  const layer = `(ulong)${within(blockAlong(g, 2), Level.unary)}`;
  const row = `(${layer} * ${blocksAlong(g, 1).text} + ${blockAlong(g, 1).text})`;
  const body = `return ${row} * ${blocksAlong(g, 0).text} + ${blockAlong(g, 0).text};`;
  const names = positionArguments(g).map(({ name }) => name);
  const params = names.length === 0 ? 'void' : names.map((name) => `uint ${name}`).join(', ');
  return `${define(g, 'block_number', `ulong block_number(${params}) { ${body} }`)}(${names.join(', ')})`;
}

/** Halves are read and written only through memory, for few devices have them as values. */
export function toHalf(g: Gen, type: 'f32' | 'f64'): string {
  const name = `round_half_${type}`;
  const body =
    g.target.dialect === 'hip'
      ? 'return (float)(_Float16)a;'
      : 'ushort h; vstore_half_rte(a, 0, (private half *)&h); return vload_half(0, (const private half *)&h);';
  return define(g, name, `float ${name}(${typeOf(type)} a) { ${body} }`);
}

/** fma of f32, clamped to [0, 1]; of NaN 0. NVIDIA has an instruction for it, to which no OpenCL C of ours leads. */
export function saturatedFma(g: Gen): string {
  const otherwise = 'float r = fma(a, b, c); r = r > 0.0f ? r : 0.0f; return r < 1.0f ? r : 1.0f;';
  return instruction(g, 'saturated_fma', ['a', 'b', 'c'], 'fma.rn.sat.f32', otherwise);
}

/** An approximation of f32. NVIDIA's native functions scale denormals first, which bodies that ask for one do not need. */
export function approximation(g: Gen, native: string): string {
  const ptx = `${PTX_APPROXIMATIONS[native] ?? native}.approx.ftz.f32`;
  return instruction(g, `approximate_${native}`, ['a'], ptx, `return native_${native}(a);`);
}

/** Where PTX has another name. */
const PTX_APPROXIMATIONS: Readonly<Record<string, string>> = { exp2: 'ex2', log2: 'lg2', recip: 'rcp' };

/** A function of f32 by an instruction of PTX on NVIDIA's compiler. */
function instruction(g: Gen, name: string, params: readonly string[], ptx: string, otherwise: string): string {
  if (g.helpers.has(name)) return name;
  const head = `${functionStart(g)}float ${name}(${params.map((p) => `float ${p}`).join(', ')})`;
  const operands = params.map((_, k) => `%${k + 1}`).join(', ');
  const inputs = params.map((p) => `"f"(${p})`).join(', ');
  const text = [
    '#if defined(__NV_CL_C_VERSION)',
    `${head} { float r; __asm__("${ptx} %0, ${operands};" : "=f"(r) : ${inputs}); return r; }`,
    '#else',
    `${head} { ${otherwise} }`,
    '#endif',
  ];
  g.helpers.set(name, text.join('\n'));
  return name;
}

const HIP_FENCES = {
  block: '__threadfence_block()',
  device: '__threadfence()',
  system: '__threadfence_system()',
} as const;

/** OpenCL 1.2 orders the accesses of one work item; on AMD that is for the work-group to see, and clang's own fence for the device. */
export function fence(g: Gen, scope: 'block' | 'device' | 'system'): string {
  if (g.target.dialect === 'hip') return HIP_FENCES[scope];
  const local = 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)';
  if (scope === 'block') return local;
  const text = [
    '#if defined(__AMDGCN__)',
    `#define ${scope}_fence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "${scope === 'device' ? 'agent' : ''}")`,
    '#else',
    `#define ${scope}_fence() ${local}`,
    '#endif',
  ];
  if (!g.helpers.has(`${scope}_fence`)) g.helpers.set(`${scope}_fence`, text.join('\n'));
  return `${scope}_fence()`;
}
