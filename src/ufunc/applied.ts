/**
 * A universal function applied to arguments: which launches that is, and where the result goes.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import type { Step } from '../kernel/steps.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { isPlainObject, ownValue } from '../options.ts';
import type { Operand, Workplace } from './operands.ts';
import { finish, finishLater, type Origins, type Target, targetOf } from './results.ts';
import { commonShape, type Universal } from './universal.ts';

/** A call that is ready to be launched. */
export interface Ready {
  readonly steps: readonly Step[];
  readonly target: Target;
}

/** Gives back what a call has made when it cannot be made. */
export function guarded<R>(place: Workplace, run: () => R): R {
  try {
    return run();
  } catch (error) {
    disposeUnseen(place.made);
    throw error;
  }
}

/** The plan of a function applied to arguments that have been read. */
export function applied(universal: Universal, place: Workplace, operands: readonly Operand[], out: unknown): Ready {
  const typed = universal.type(place, operands);
  const shape = commonShape(typed);
  const target = targetOf(place, out, { shape, dtype: typed.result }, originsOf(operands, typed.inputs));
  return { steps: universal.steps(place, typed, target.written), target };
}

/** Where arguments are. */
export function originsOf(operands: readonly Operand[], inputs: readonly unknown[]): Origins {
  return {
    onDevice: operands.some((operand) => operand.kind === 'array' && operand.onDevice),
    numbers: operands.every(({ kind }) => kind === 'scalar'),
    inputs: inputs.filter((input) => input instanceof DeviceNDArray),
    whole: false,
  };
}

/** A call that is ready to be launched, and what it gives. */
export interface Planned {
  readonly place: Workplace;
  readonly steps: readonly Step[];
  readonly targets: readonly Target[];
}

/** What makes a plan of a call's arguments. */
export type AnyPlan = (...given: readonly unknown[]) => Planned;
/** A call that gives its result, and one that promises it. */
export type BothForms = ((...given: readonly unknown[]) => unknown) & {
  readonly async: (...given: readonly unknown[]) => Promise<unknown>;
};

/** A function that does what is planned, and its asynchronous form; `several`: it gives a list of results. */
export function inBothForms(devices: DeviceSelection, name: string, plan: AnyPlan, several = false): BothForms {
  const only = (results: readonly unknown[]): unknown => (several ? results : results[0]);
  const now = (...given: readonly unknown[]): unknown => {
    const { place, steps, targets } = plan(...given);
    return only(finish(place, steps, targets));
  };
  const later = async (...given: readonly unknown[]): Promise<unknown> => {
    const { place, steps, targets } = plan(...given);
    return only(await finishLater(place, steps, targets));
  };
  return Object.assign(hostFunction(devices, name, now), { async: hostFunction(devices, name, later) });
}

/** Options, and neither an array of another package nor a number in an object. */
export function isOptions(value: unknown): boolean {
  if (value === undefined) return true;
  return isPlainObject(value) && ownValue(value, 'data') === undefined && ownValue(value, 're') === undefined;
}
