/**
 * Where the result of a universal function goes: to an array that was given, to a new one on the device if any argument is there, else to the host.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceOf, isBorrowed } from '../array/device-create.ts';
import { asHostArray } from '../array/ndarray-create.ts';
import { TsambaTypeError } from '../errors.ts';
import { launchSteps, launchStepsLater, type Step } from '../kernel/steps.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { show } from '../show.ts';
import type { Workplace } from './operands.ts';
import { besideInputs, checkOut, newResult, type Wanted } from './universal.ts';

/** One result of a call. */
export interface Target {
  /** What kernels write. */
  readonly written: DeviceNDArray;
  /** What the call gives: the array, the host array that is filled, a new one, or a number. */
  readonly gives: 'device' | 'into' | 'host' | 'number';
  readonly out: unknown;
  /** Set where `written` stands beside `out` on the device. */
  readonly copyTo: DeviceNDArray | undefined;
}

/** What decides where new results are. */
export interface Origins {
  readonly onDevice: boolean;
  /** All arguments are numbers. */
  readonly numbers: boolean;
  /** What the kernels read. */
  readonly inputs: readonly DeviceNDArray[];
  /** Whether an element of the result may depend on any of theirs, and not on those of the same index alone. */
  readonly whole: boolean;
}

/** Finds or makes the array that a result is written to. Throws TypeError, RangeError for an `out` that does not fit. */
export function targetOf(place: Workplace, out: unknown, wanted: Wanted, origins: Origins): Target {
  if (out === undefined || out === null) {
    const written = newResult(place, wanted);
    const gives = origins.onDevice ? 'device' : origins.numbers && wanted.shape.length === 0 ? 'number' : 'host';
    return { written, gives, out: written, copyTo: undefined };
  }
  const there = deviceOf(out, place.context);
  if (there !== undefined) {
    if (isBorrowed(there, out as object)) place.own(there);
    there.checkUsable();
    checkOut(place.name, there, wanted);
    const written = besideInputs(place, there, origins);
    return { written, gives: 'device', out, copyTo: written === there ? undefined : there };
  }
  const host = asHostArray(out);
  if (host === undefined) {
    throw new TsambaTypeError(
      'E_UFUNC',
      `${place.name}: out must be an array, got ${Array.isArray(out) ? 'a JavaScript array' : show(out)}`,
    );
  }
  checkOut(place.name, host, wanted);
  return { written: newResult(place, { ...wanted, dtype: host.dtype }), gives: 'into', out, copyTo: undefined };
}

/** Launches, and gives the results. */
export function finish(place: Workplace, steps: readonly Step[], targets: readonly Target[]): unknown[] {
  keepResults(place, targets);
  try {
    launchSteps({ steps, temporaries: [] });
    return targets.map((target) => {
      copyBeside(target, place);
      const { written, gives, out } = target;
      if (gives === 'device') return out;
      if (gives === 'number') return written.get();
      return gives === 'into' ? written.copyToHost(out as never, onStream(place)) : written.copyToHost(onStream(place));
    });
  } finally {
    disposeUnseen(place.made);
  }
}

/** As `finish`, without blocking. */
export async function finishLater(
  place: Workplace,
  steps: readonly Step[],
  targets: readonly Target[],
): Promise<unknown[]> {
  keepResults(place, targets);
  try {
    await launchStepsLater({ steps, temporaries: [] });
    for (const target of targets) copyBeside(target, place);
    return await Promise.all(
      targets.map(async ({ written, gives, out }) => {
        if (gives === 'device') return out;
        if (gives === 'number') return written.getAsync();
        return gives === 'into'
          ? written.copyToHostAsync(out as never, onStream(place))
          : written.copyToHostAsync(onStream(place));
      }),
    );
  } finally {
    disposeUnseen(place.made);
  }
}

/** New arrays on the device are the caller's. */
function keepResults(place: Workplace, targets: readonly Target[]): void {
  for (const { written, gives, out } of targets) if (gives === 'device' && written === out) place.release(written);
}

function copyBeside({ written, copyTo }: Target, { stream }: Workplace): void {
  copyTo?.copyToDevice(written, { stream });
}

function onStream({ stream }: Workplace): { readonly stream?: Workplace['stream'] } {
  return stream === undefined ? {} : { stream };
}
