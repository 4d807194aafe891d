/**
 * The operands of matrix products: brought to the device, of one type, and laid out as kernels read them.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type DType, f32, i32 } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Step } from '../kernel/steps.ts';
import { show } from '../show.ts';
import { elementType, type Operand, type Workplace } from '../ufunc/operands.ts';
import { Universal } from '../ufunc/universal.ts';

/** An operand on the device. */
export interface Given {
  readonly array: DeviceNDArray;
  readonly onDevice: boolean;
}

/** Reads an operand; JavaScript arrays are f64 or i64. Throws TypeError for numbers and what is not an array. */
export function givenArray(place: Workplace, value: unknown, what: string): Given {
  const operand: Operand = place.read(value, what);
  if (operand.kind === 'nested') return { array: place.nested(operand.value, undefined), onDevice: false };
  if (operand.kind === 'array') return operand;
  throw new TsambaTypeError(
    'E_MATMUL',
    `${place.name}: ${what} must be an array, got ${show(value)}: multiply by numbers with mul`,
  );
}

/** Converts elements, and copies. */
export class Converter {
  readonly #as: Universal;
  readonly #times: Universal;

  constructor(jit: Jit) {
    this.#as = new Universal(jit, { fn: (x: never) => x, name: 'convert' }, 1, undefined);
    this.#times = new Universal(jit, { fn: (x: number, y: number) => x * y, name: 'matmul' }, 2, undefined);
  }

  /** The type of a product: that of both, or that of `x * y` where they differ or are narrow integers. Throws TypeError for anything that is not multiplied. */
  typeOf(place: Workplace, arrays: readonly DeviceNDArray[]): DType {
    const [first, ...others] = arrays.map(({ dtype }) => dtype) as [DType, ...DType[]];
    const wrong = arrays.find(
      ({ dtype }) => !'iufc'.includes(dtype.kind) || (dtype.fields !== undefined && dtype.kind !== 'c'),
    );
    if (wrong !== undefined) {
      throw new TsambaTypeError(
        'E_MATMUL',
        `${place.name} multiplies numbers, and an array has dtype ${wrong.dtype.name}`,
      );
    }
    return others.reduce(
      (type, other) => {
        if (type === other && isMultiplied(type)) return type;
        return this.#times.resultOf([elementType(type), elementType(other)]);
      },
      others.length === 0 && !isMultiplied(first)
        ? this.#times.resultOf([elementType(first), elementType(first)])
        : first,
    );
  }

  /** A new contiguous array of a type, filled with the elements of another. */
  copy(place: Workplace, array: DeviceNDArray, dtype: DType, steps: Step[]): DeviceNDArray {
    const made = place.temporary(array.shape, dtype);
    steps.push(...this.into(place, array, made));
    return made;
  }

  /** Converts into an array of the same shape. */
  into(place: Workplace, array: DeviceNDArray, out: DeviceNDArray): Step[] {
    return this.#as.steps(place, { inputs: [array], result: out.dtype, stated: true }, out);
  }
}

/** Types that are multiplied as they are; narrower integers become i32, and f8 f32. */
function isMultiplied({ kind, itemSize, name }: DType): boolean {
  if (kind === 'f') return itemSize > 1;
  return kind === 'c' || itemSize >= 4 || name === i32.name || name === f32.name;
}
