/**
 * Who computes a product: Tsamba's own kernels, or a library of the device's vendor.
 */
import type { DType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Product } from './plan.ts';

/** Another way to compute products. */
export interface Backend {
  /** The launches; undefined for a product that it cannot compute as its operands lie. */
  steps(place: Workplace, product: Product): Step[] | undefined;
}

/** The backend that an option names; undefined for Tsamba's own. */
export function backendOf(_place: Workplace, _option: unknown, _dtype: DType): Backend | undefined {
  return undefined;
}
