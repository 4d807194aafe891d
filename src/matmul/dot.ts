/**
 * `cuda.dot`: NumPy's `dot`. Products of matrices are `matmul`'s; what has more axes on the right goes the way of `einsum`, and numbers are multiplied by.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { expression } from '../array/expression.ts';
import { kernelsOf } from '../fuse/engine.ts';
import { Evaluation } from '../fuse/evaluation.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { guarded, inBothForms, type Planned } from '../ufunc/applied.ts';
import { type Operand, Workplace } from '../ufunc/operands.ts';
import { targetOf } from '../ufunc/results.ts';
import { summed } from './einsum.ts';
import { mismatch, multiplierOf, type ProductOptions, productOptions } from './matmul.ts';
import type { Given } from './operands.ts';
import type { Dot } from './types.ts';

/** The function of a namespace. */
export function dotOf(devices: DeviceSelection): Dot {
  const plan = (a: unknown, b: unknown, options?: unknown): Planned => planned(devices, [a, b], options);
  return inBothForms(devices, 'dot', plan as never) as unknown as Dot;
}

function planned(devices: DeviceSelection, values: readonly [unknown, unknown], options: unknown): Planned {
  const own = productOptions('dot', options);
  const place = new Workplace('dot', devices.currentContext(), own.stream);
  return guarded(place, () => {
    const operands = values.map((value, k) => read(place, value, `argument ${k + 1}`));
    const [a, b] = operands.map((operand) =>
      operand.kind === 'array' && operand.array.ndim > 0 ? operand : undefined,
    );
    if (a === undefined || b === undefined) return scaled(place, devices, operands, own.out);
    multiplierOf(devices).converter.typeOf(place, [a.array, b.array]);
    return b.array.ndim > 2
      ? summedOver(place, devices, [a, b], own)
      : multiplierOf(devices).multiplied(place, [a, b], own);
  });
}

function read(place: Workplace, value: unknown, what: string): Exclude<Operand, { kind: 'nested' }> {
  const operand = place.read(value, what);
  if (operand.kind !== 'nested') return operand;
  return { kind: 'array', array: place.nested(operand.value, undefined), onDevice: false };
}

/** A product with a number, or an array without axes. */
function scaled(
  place: Workplace,
  devices: DeviceSelection,
  operands: readonly Exclude<Operand, { kind: 'nested' }>[],
  out: unknown,
): Planned {
  const evaluation = new Evaluation(kernelsOf(devices), place);
  const factors = operands.map((operand) => (operand.kind === 'array' ? operand.array : operand.value));
  const product = expression({ op: 'mul', operands: factors, options: {} });
  const wanted = evaluation.describe(product);
  const { inputs } = evaluation;
  const onDevice = operands.some((operand) => operand.kind === 'array' && operand.onDevice) && wanted.shape.length > 0;
  const target = targetOf(place, out, wanted, { onDevice, numbers: true, inputs, whole: true });
  evaluation.into(product, target.written);
  return { place, steps: evaluation.steps, targets: [target] };
}

/** The last axis of A, and the second-to-last of B, which has three or more. */
function summedOver(
  place: Workplace,
  devices: DeviceSelection,
  given: readonly [Given, Given],
  options: ProductOptions,
): Planned {
  const [a, b] = given.map(({ array }) => array) as [DeviceNDArray, DeviceNDArray];
  const [k, rows] = [a.shape.at(-1) as number, b.shape.at(-2) as number];
  if (k !== rows) throw mismatch(place, a, b, `rows have ${k} elements, and columns ${rows}`);
  const inA = a.shape.map((_, axis) => (axis === a.ndim - 1 ? 'k' : `a${axis}`));
  const inB = b.shape.map((_, axis) => (axis === b.ndim - 2 ? 'k' : `b${axis}`));
  const sizes = new Map([
    ...inA.map((label, axis) => [label, a.shape[axis]]),
    ...inB.map((label, axis) => [label, b.shape[axis]]),
  ] as [string, number][]);
  const output = [...inA, ...inB].filter((label) => label !== 'k');
  return summed(place, devices, { subscripts: { inputs: [inA, inB], output, sizes }, read: given, options });
}
