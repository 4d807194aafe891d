/**
 * `cuda.vectorize`: a universal function, NumPy's ufunc, of a function of elements. Numba's `@vectorize`.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import { TsambaTypeError } from '../errors.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import { userFunction } from '../kernel/user-function.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { readOptions } from '../options.ts';
import { type AnyPlan, applied, type BothForms, guarded, inBothForms, isOptions, type Planned } from './applied.ts';
import { Methods } from './methods.ts';
import { type StreamLike, Workplace } from './operands.ts';
import { elementSignatures } from './signatures.ts';
import type { UFunc, Vectorize, VectorizeOptions } from './types.ts';
import { Universal } from './universal.ts';

/** The function of a namespace. */
export function vectorizeOf(devices: DeviceSelection): Vectorize {
  const vectorize = (first: unknown, options?: unknown): unknown => {
    // Numba's order: the signatures, and then the function.
    if (typeof first === 'string' || Array.isArray(first))
      return (fn: unknown) => make(devices, fn, { ...(options as object), signature: first as string });
    return make(devices, first, options);
  };
  return hostFunction(devices, 'vectorize', vectorize) as unknown as Vectorize;
}

function make(devices: DeviceSelection, fn: unknown, options: unknown): UFunc {
  const own = readOptions('vectorize', options as VectorizeOptions, ['signature', 'identity', 'captures', 'name']);
  const user = userFunction('vectorize', fn, own);
  const arity = user.fn.length;
  if (arity === 0) {
    throw new TsambaTypeError(
      'E_UFUNC',
      `vectorize takes a function of one or more elements, and ${user.name} takes none`,
    );
  }
  const signatures = elementSignatures('vectorize', own.signature, arity);
  const universal = new Universal(ownJitOf(devices), user, arity, signatures);
  return publicFace(universal, own.identity, devices);
}

function publicFace(universal: Universal, identity: VectorizeOptions['identity'], devices: DeviceSelection): UFunc {
  const { arity, user, signatures } = universal;
  const methods = new Methods(universal, identity, devices);
  const plans = {
    call: (...given: readonly unknown[]) => prepare(universal, devices, given),
    reduce: (array: unknown, options?: unknown) => methods.reduce(array, options),
    accumulate: (array: unknown, options?: unknown) => methods.accumulate(array, options),
    outer: (a: unknown, b: unknown, options?: unknown) => methods.outer(a, b, options),
    at: (array: unknown, indices: unknown, ...rest: readonly unknown[]) => methods.at(array, indices, rest),
  };
  const { call, ...members } = Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [name, inBothForms(devices, `${user.name}.${name}`, plan as AnyPlan)]),
  ) as Record<keyof typeof plans, BothForms>;
  const face = Object.assign(hostFunction(devices, user.name, call), members, {
    nin: arity,
    nout: 1,
    nargs: arity + 1,
    identity,
    types: (signatures ?? []).map(({ text }) => text),
  });
  return Object.freeze(face) as unknown as UFunc;
}

function prepare(universal: Universal, devices: DeviceSelection, given: readonly unknown[]): Planned {
  const { arity, user } = universal;
  const last = given[arity];
  if (given.length < arity || given.length > arity + 1 || (given.length > arity && !isOptions(last))) {
    throw new TsambaTypeError(
      'E_ARGUMENT_COUNT',
      `${user.name} takes ${arity} argument${arity === 1 ? '' : 's'} and options, { out, stream }, but got ${given.length} arguments`,
    );
  }
  const { out, stream } = readOptions(user.name, last as CallOptions | undefined, ['out', 'stream']);
  const place = new Workplace(user.name, devices.currentContext(), stream);
  return guarded(place, () => {
    const operands = given.slice(0, arity).map((value, k) => place.read(value, `argument ${k + 1}`));
    const { steps, target } = applied(universal, place, operands, out);
    return { place, steps, targets: [target] };
  });
}

interface CallOptions {
  readonly out?: unknown;
  readonly stream?: StreamLike;
}
