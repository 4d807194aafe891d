/**
 * What evaluates expressions of whole arrays on the devices of a namespace.
 */
import { type Evaluator, useEvaluator } from '../array/expression.ts';
import type { DType } from '../dtype/index.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { readOptions } from '../options.ts';
import { guarded, type Planned } from '../ufunc/applied.ts';
import { type StreamLike, Workplace } from '../ufunc/operands.ts';
import { finish, finishLater, targetOf } from '../ufunc/results.ts';
import { Evaluation } from './evaluation.ts';
import { Kernels } from './kernels.ts';

const kernels = new WeakMap<DeviceSelection, Kernels>();

/** The kernels of expressions on the devices of a namespace. */
export function kernelsOf(devices: DeviceSelection): Kernels {
  let made = kernels.get(devices);
  if (made === undefined) {
    made = new Kernels(ownJitOf(devices));
    kernels.set(devices, made);
  }
  return made;
}

export class Engine implements Evaluator {
  readonly #devices: DeviceSelection;
  readonly #kernels: Kernels;

  constructor(devices: DeviceSelection) {
    this.#devices = devices;
    this.#kernels = kernelsOf(devices);
  }

  describe(expression: object): { readonly shape: readonly number[]; readonly dtype: DType } {
    const place = new Workplace('evaluate', this.#devices.currentContext(), undefined);
    try {
      return new Evaluation(this.#kernels, place).describe(expression);
    } finally {
      disposeUnseen(place.made);
    }
  }

  evaluate(expression: object, options?: unknown): unknown {
    const { place, steps, targets } = this.#planned(expression, options);
    return finish(place, steps, targets)[0];
  }

  async evaluateAsync(expression: object, options?: unknown): Promise<unknown> {
    const { place, steps, targets } = this.#planned(expression, options);
    return (await finishLater(place, steps, targets))[0];
  }

  #planned(expression: object, options: unknown): Planned {
    const own = readOptions('evaluate', options as Options | undefined, ['out', 'stream'] as never) as Options;
    const place = new Workplace('evaluate', this.#devices.currentContext(), own.stream);
    return guarded(place, () => {
      const evaluation = new Evaluation(this.#kernels, place);
      const wanted = evaluation.describe(expression);
      const origins = { onDevice: true, numbers: false, inputs: evaluation.inputs, whole: true };
      const target = targetOf(place, own.out, wanted, origins);
      evaluation.into(expression, target.written);
      return { place, steps: evaluation.steps, targets: [target] };
    });
  }
}

interface Options {
  readonly out?: unknown;
  readonly stream?: StreamLike;
}

const engines = new WeakMap<DeviceSelection, Engine>();

/** The engine of a namespace, which is told to the methods of arrays. */
export function engineOf(devices: DeviceSelection): Engine {
  let engine = engines.get(devices);
  if (engine === undefined) {
    engine = new Engine(devices);
    engines.set(devices, engine);
    useEvaluator(devices.namespace, engine);
  }
  return engine;
}
