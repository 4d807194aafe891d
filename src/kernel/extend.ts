/**
 * What libraries add to kernels: `defineIntrinsic` for what devices have instructions for, `overload` for functions that mean something else there.
 */

import {
  type ArgumentKind,
  addOverload,
  type DeviceFunction,
  markNative,
  type NativeTexts,
  type ValueName,
} from '../compiler/intrinsics/native.ts';
import { hostOnly } from '../compiler/intrinsics.ts';
import { isDType } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { isInstance, readKeys } from '../options.ts';
import { show } from '../show.ts';

const TYPES: readonly ValueName[] = ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'];
const KINDS: readonly unknown[] = ['number', 'array', 'function', 'object'] satisfies readonly ArgumentKind[];
const TARGETS = ['ptx', 'opencl', 'hip'] as const;

/** Options of `defineIntrinsic`. */
export interface DefineIntrinsic<F extends DeviceFunction> {
  /** The name in messages: `'mylib.median'`. */
  readonly name: string;
  /** The types that it computes in, operands and result alike; default: all of i32, u32, i64, u64, f32, f64. */
  readonly types?: readonly (ValueName | { readonly name: string })[] | undefined;
  /** What it means, as a device function. Devices without a native form run it, and all devices agree with it. */
  readonly expand?: F | undefined;
  /** How devices say it: the name of an instruction or function, or a text with `$1`, `$2` (PTX: `$0` is the result); undefined: as `expand`. */
  readonly native?: NativeTexts | undefined;
  /** Number of operands, where there is no `expand` to count them in. */
  readonly arity?: number | undefined;
}

function defined<F extends DeviceFunction>(definition: DefineIntrinsic<F>): F {
  const given: unknown = definition;
  if (typeof given !== 'object' || given === null || isInstance(given))
    throw unfit(`takes an object, got ${show(given)}`);
  const {
    name,
    types = TYPES,
    expand,
    native = {},
    arity,
  } = readKeys('defineIntrinsic', given, ['name', 'types', 'expand', 'native', 'arity']);
  if (typeof name !== 'string' || name === '') throw unfit(`takes a name, got ${show(name)}`);
  if (expand !== undefined && typeof expand !== 'function')
    throw unfit(`takes expand as a function, got ${show(expand)}`);
  const texts = checkTexts(native);
  if (expand === undefined && Object.keys(texts).length === 0) throw unfit('needs expand, or native, or both');
  const operands = expand === undefined ? arity : (arity ?? expand.length);
  if (typeof operands !== 'number' || !Number.isInteger(operands) || operands < 1 || operands > 9) {
    throw unfit(`takes 1 to 9 operands, got ${show(operands)}: arity says how many`);
  }
  const onHost = (): never => {
    throw new NotSupportedError(
      'E_HOST_INTRINSIC',
      `${name} only works inside a kernel: call it in a function that is passed to cuda.jit`,
    );
  };
  Object.defineProperty(onHost, 'name', { value: name });
  const intrinsic = {
    name,
    arity: operands,
    types: checkTypes(types),
    expand: expand as DeviceFunction | undefined,
    native: texts,
  };
  return Object.freeze(markNative(onHost, intrinsic)) as unknown as F;
}

/**
 * Defines a function for kernels that is an instruction on devices that have one for it, and `expand` on all others. It must be pure: its result
 * depends only on its operands.
 *
 *     const median = defineIntrinsic({
 *       name: 'median',
 *       types: ['f32'],
 *       expand: (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c)),
 *       native: { opencl: () => 'fmax(fmin($1, $2), fmin(fmax($1, $2), $3))' },
 *     });
 * Numba: `@intrinsic` of its extension API.
 * @throws TypeError for an invalid definition.
 */
export const defineIntrinsic: typeof defined = /* @__PURE__ */ hostOnly('defineIntrinsic', defined);

function checkTexts(given: unknown): NativeTexts {
  if (typeof given !== 'object' || given === null) throw unfit(`takes native as an object, got ${show(given)}`);
  const texts = readKeys('native of defineIntrinsic', given, TARGETS);
  for (const [target, text] of Object.entries(texts)) {
    if (text !== undefined && typeof text !== 'function')
      throw unfit(`takes native.${target} as a function of the type, got ${show(text)}`);
  }
  return Object.fromEntries(
    Object.entries(texts).flatMap(([target, text]) =>
      text === undefined ? [] : [[target, checkedText(target, text)]],
    ),
  ) as NativeTexts;
}

/** What gives the instruction, and says so if it gives anything else. */
function checkedText(target: string, text: unknown): (...args: unknown[]) => string | undefined {
  return (...args) => {
    const found: unknown = (text as (...args: unknown[]) => unknown)(...args);
    if (found === undefined || (typeof found === 'string' && found !== '')) return found;
    throw unfit(`takes the text of an instruction from native.${target}, or undefined, got ${show(found)}`);
  };
}

function checkTypes(given: unknown): readonly ValueName[] {
  if (!Array.isArray(given) || given.length === 0)
    throw unfit(`takes types as a list such as ['f32'], got ${show(given)}`);
  return given.map((one: unknown) => {
    const name: unknown = typeof one === 'string' ? one : (one as { readonly name?: unknown } | null)?.name;
    const found = TYPES.find((type) => type === name);
    if (found === undefined) throw unfit(`supports ${TYPES.join(', ')}, not ${show(one)}`);
    return found;
  });
}

function unfit(what: string): TsambaTypeError {
  return new TsambaTypeError('E_DEFINE', `defineIntrinsic ${what}`);
}

function overloaded<F extends DeviceFunction>(
  fn: F,
  body: DeviceFunction,
  options: { readonly when?: readonly ArgumentKind[] | undefined } = {},
): void {
  const [what, stands]: readonly unknown[] = [fn, body];
  if (typeof what !== 'function' || typeof stands !== 'function') {
    throw new TsambaTypeError('E_DEFINE', `overload takes two functions, got ${show(fn)} and ${show(body)}`);
  }
  const { when } = readKeys('overload', options, ['when']);
  if (when !== undefined && !Array.isArray(when)) {
    throw new TsambaTypeError('E_DEFINE', `overload takes when as a list, one entry per argument, got ${show(when)}`);
  }
  for (const kind of (when ?? []) as readonly unknown[]) {
    if (typeof kind === 'string' ? KINDS.includes(kind) : isDType(kind)) continue;
    const kinds = KINDS.map((word) => `'${word}'`).join(', ');
    throw new TsambaTypeError('E_DEFINE', `when of overload takes ${kinds} and structs, got ${show(kind)}`);
  }
  addOverload(fn, { body, when: when as readonly ArgumentKind[] | undefined });
}

/**
 * Defines what a host function means in kernels: `body`, a device function, is compiled in its place. With `when`, only for arguments of these kinds: `'number'`,
 * `'array'`, `'function'`, `'object'`, or a struct for its records; overloads added later are tried first. Nothing changes on the host. Numba: `@overload`.
 *
 *     overload(lodash.clamp, (x: number, low: number, high: number) => Math.min(Math.max(x, low), high));
 *     overload(lib.add, (a: V, b: V) => ({ x: a.x + b.x, y: a.y + b.y }), { when: [vec2, vec2] });
 * @throws TypeError for anything but functions.
 */
export const overload: typeof overloaded = /* @__PURE__ */ hostOnly('overload', overloaded);
