/**
 * How a primitive is called: its plan is made, the launches are enqueued, and what it gives is given; a second form does the same without
 * blocking, for devices that answer through promises alone.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import { launchSteps, launchStepsLater, type Step } from '../kernel/steps.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import type { Workplace } from '../ufunc/operands.ts';

/** What one call does. */
export interface Plan<R> {
  /** Where: it gives back all that was made for the call, but `results`. */
  readonly place: Workplace;
  readonly steps: readonly Step[];
  /** What is enqueued behind the launches: copies to where a result was asked for. */
  readonly after?: (() => void) | undefined;
  /** Arrays made for the call that are the caller's from now on. */
  readonly results?: readonly DeviceNDArray[] | undefined;
  /** Arrays of one element, which are read after the launches: this waits. */
  readonly reads?: readonly DeviceNDArray[] | undefined;
  /** What the call gives; `read` are the elements of `reads`. */
  readonly give: (...read: never[]) => R;
}

/** A primitive, and its form that does not block. */
export type Primitive<A extends readonly unknown[], R> = ((...args: A) => R) & {
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: (...args: A) => Promise<R>;
};

/** Makes a primitive of what plans its calls. A plan that cannot be made has to give back what it made (`planned`). */
export function primitive<A extends readonly unknown[], R>(
  name: string,
  plan: (...args: A) => Plan<R>,
): Primitive<A, R> {
  const now = (...args: A): R => {
    const call = plan(...args);
    return finishing(call, () => {
      launchSteps({ steps: call.steps, temporaries: [] });
      call.after?.();
      return given(
        call,
        (call.reads ?? []).map((array) => array.get(0)),
      );
    });
  };
  const later = async (...args: A): Promise<R> => {
    const call = plan(...args);
    try {
      await launchStepsLater({ steps: call.steps, temporaries: [] });
      call.after?.();
      return given(call, await Promise.all((call.reads ?? []).map((array) => array.getAsync(0))));
    } finally {
      disposeUnseen(call.place.made);
    }
  };
  const namespace = { namespace: 'parallel' };
  return Object.freeze(
    Object.assign(hostFunction(namespace, name, now), { async: hostFunction(namespace, `${name}.async`, later) }),
  );
}

/** Makes a plan at a place, and gives back what was made there when that fails. */
export function planned<R>(place: Workplace, make: () => Omit<Plan<R>, 'place'>): Plan<R> {
  try {
    return { ...make(), place };
  } catch (error) {
    disposeUnseen(place.made);
    throw error;
  }
}

function finishing<R>({ place }: Plan<R>, run: () => R): R {
  try {
    return run();
  } finally {
    disposeUnseen(place.made);
  }
}

/** Only now: where a launch or a read fails, results are given back as all else is. */
function given<R>({ place, results = [], give }: Plan<R>, read: readonly unknown[]): R {
  for (const array of results) place.release(array);
  return give(...(read as never[]));
}
