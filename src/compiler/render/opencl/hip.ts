/**
 * What makes HIP C++ understand the renderer's OpenCL C: OpenCL's names of types and functions, by what HIP and its compiler have.
 *
 * Functions of floats are named for both widths here: C++ would promote a float silently. Division and square roots of f32 are
 * correctly rounded unless the compiler is told otherwise. HIP's compiler knows LDS and global memory by where pointers come from.
 */

const FUNCTION = 'static inline __device__ __attribute__((always_inline))';

/** A function of floats, by the compiler's or the library's function for each width. */
function both(name: string, params: 1 | 2 | 3, f32: string, f64: string): string {
  const letters = ['a', 'b', 'c'].slice(0, params);
  const one = (type: string, called: string): string =>
    `${FUNCTION} ${type} tsamba_${name}(${letters.map((x) => `${type} ${x}`).join(', ')}) { return ${called}(${letters.join(', ')}); }`;
  return `${one('float', f32)}\n${one('double', f64)}\n#define ${name} tsamba_${name}`;
}

function work(name: string, of: string): string {
  return `${FUNCTION} uint ${name}(uint axis) { return axis == 0 ? ${of}.x : axis == 1 ? ${of}.y : ${of}.z; }`;
}

/** What the names of atomic operations begin with, and the threads that they are for. */
const SCOPED = [
  ['atomic', 'AGENT'],
  ['atom', 'AGENT'],
  ['system', 'SYSTEM'],
] as const;

function atomics(name: string, called: string): string {
  const text = `template <typename T> ${FUNCTION} T NAME(volatile T *p, T a) { return ${called}; }`;
  return SCOPED.map(([kind, scope]) => text.replace('NAME', `${kind}_${name}`).replace('WHOM', scope)).join('\n');
}

/** One of the compiler's atomic operations; nothing is ordered but itself. */
function fetch(operation: string, value = 'a'): string {
  return `__hip_atomic_${operation}((T *)p, ${value}, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WHOM)`;
}

const EXCHANGE = (kind: string, scope: string): string =>
  `template <typename T> ${FUNCTION} T ${kind}_cmpxchg(volatile T *p, T a, T b) { ` +
  `__hip_atomic_compare_exchange_strong((T *)p, &a, b, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_${scope}); return a; }`;

const NATIVE = ['exp2', 'log2', 'recip', 'rsqrt', 'sqrt', 'sin', 'cos'] as const;

const CASTS = ['int', 'uint', 'long', 'ulong', 'float', 'double'] as const;

export const HIP_PRELUDE: string = [
  'typedef unsigned char uchar;',
  'typedef unsigned short ushort;',
  'typedef unsigned int uint;',
  'typedef unsigned long ulong;',
  ...CASTS.map((type) => `#define as_${type}(x) __builtin_bit_cast(${type}, x)`),
  work('get_local_id', 'threadIdx'),
  work('get_group_id', 'blockIdx'),
  work('get_local_size', 'blockDim'),
  work('get_num_groups', 'gridDim'),
  // All memory is made visible to the block, whatever is said.
  '#define barrier(fences) __syncthreads()',
  '#define mem_fence(fences) __threadfence()',
  both('fabs', 1, '__builtin_fabsf', '__builtin_fabs'),
  both('floor', 1, '__builtin_floorf', '__builtin_floor'),
  both('ceil', 1, '__builtin_ceilf', '__builtin_ceil'),
  both('trunc', 1, '__builtin_truncf', '__builtin_trunc'),
  both('rint', 1, '__builtin_rintf', '__builtin_rint'),
  both('copysign', 2, '__builtin_copysignf', '__builtin_copysign'),
  both('fma', 3, '__builtin_fmaf', '__builtin_fma'),
  both('fmod', 2, 'fmodf', 'fmod'),
  both('sqrt', 1, 'sqrtf', 'sqrt'),
  both('rsqrt', 1, 'rsqrtf', 'rsqrt'),
  both('tanh', 1, 'tanhf', 'tanh'),
  '#define isnan(x) __builtin_isnan(x)',
  '#define isfinite(x) __builtin_isfinite(x)',
  ...NATIVE.map(
    (name) =>
      `extern "C" __device__ __attribute__((const)) float __ocml_native_${name}_f32(float);\n#define native_${name}(x) __ocml_native_${name}_f32(x)`,
  ),
  '#define native_divide(a, b) ((a) * native_recip(b))',
  `template <typename T> ${FUNCTION} T tsamba_min(T a, T b) { return a < b ? a : b; }`,
  `template <typename T> ${FUNCTION} T tsamba_max(T a, T b) { return a > b ? a : b; }`,
  '#define min tsamba_min',
  '#define max tsamba_max',
  `${FUNCTION} int clamp(int a, int least, int most) { return a < least ? least : a > most ? most : a; }`,
  // Of the least integer too: the magnitude is unsigned.
  `${FUNCTION} uint tsamba_abs(int a) { return a < 0 ? 0u - (uint)a : (uint)a; }`,
  `${FUNCTION} ulong tsamba_abs(long a) { return a < 0 ? 0UL - (ulong)a : (ulong)a; }`,
  '#define abs tsamba_abs',
  `${FUNCTION} int clz(uint a) { return __builtin_clz(a); }`,
  `${FUNCTION} int clz(ulong a) { return __builtin_clzl(a); }`,
  `${FUNCTION} int mul_hi(int a, int b) { return (int)(((long)a * b) >> 32); }`,
  `${FUNCTION} uint mul_hi(uint a, uint b) { return (uint)(((ulong)a * b) >> 32); }`,
  `${FUNCTION} long mul_hi(long a, long b) { return (long)(((__int128)a * b) >> 64); }`,
  `${FUNCTION} ulong mul_hi(ulong a, ulong b) { return (ulong)(((unsigned __int128)a * b) >> 64); }`,
  `${FUNCTION} float half_value(ushort bits) { return (float)__builtin_bit_cast(_Float16, bits); }`,
  `${FUNCTION} ushort half_bits(float a) { return __builtin_bit_cast(ushort, (_Float16)a); }`,
  `${FUNCTION} ushort half_bits(double a) { return __builtin_bit_cast(ushort, (_Float16)a); }`,
  atomics('add', fetch('fetch_add')),
  atomics('sub', fetch('fetch_add', '(T)(0 - a)')),
  atomics('xchg', fetch('exchange')),
  ...['and', 'or', 'xor', 'min', 'max'].map((name) => atomics(name, fetch(`fetch_${name}`))),
  ...SCOPED.map(([kind, scope]) => EXCHANGE(kind, scope)),
  `${FUNCTION} uint atomic_inc(volatile uint *p) { return atomic_add(p, 1u); }`,
].join('\n');
