/**
 * The last few launches of a device, so that an error which comes up later can name them.
 *
 * Noting one costs a few stores: nothing is allocated, and nothing is put into words before something fails.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { LaunchShape } from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';

const KEPT = 8;
/** Grid, block, dynamic shared bytes. */
const FIELDS = 7;

/** Launches since the device was last known to have run dry. */
export class LaunchLog {
  /** How many launches are remembered. */
  readonly kept: number = KEPT;
  readonly #kernels: (Kernel | undefined)[] = new Array<undefined>(KEPT).fill(undefined);
  readonly #numbers = new Uint32Array(KEPT * FIELDS);
  #count = 0;

  note(kernel: Kernel, { grid, block, sharedBytes }: LaunchShape): void {
    const slot = this.#count++ % KEPT;
    this.#kernels[slot] = kernel;
    const numbers = this.#numbers;
    const at = slot * FIELDS;
    numbers[at] = grid[0];
    numbers[at + 1] = grid[1];
    numbers[at + 2] = grid[2];
    numbers[at + 3] = block[0];
    numbers[at + 4] = block[1];
    numbers[at + 5] = block[2];
    numbers[at + 6] = sharedBytes;
  }

  /** The device has run dry, and nothing failed. */
  clear(): void {
    this.#count = 0;
  }

  /** The last launch in words; undefined if there was none. */
  last(): string | undefined {
    return this.#describe(this.#count - 1);
  }

  /** A sentence that names the launches among which the culprit is. */
  suspects(): string | undefined {
    const seen = new Set<string>();
    for (let i = this.#count - 1; i >= 0 && i >= this.#count - KEPT; i--) {
      const text = this.#describe(i);
      if (text !== undefined) seen.add(text);
    }
    if (seen.size === 0) return undefined;
    if (seen.size === 1 && this.#count <= KEPT) return `in kernel ${[...seen][0]}`;
    const more = this.#count > KEPT ? `; ${this.#count} launches in all` : '';
    return `in one of the kernels launched since the device was last synchronised, newest first: ${[...seen].join('; ')}${more}`;
  }

  #describe(index: number): string | undefined {
    if (index < 0) return undefined;
    const slot = index % KEPT;
    const kernel = this.#kernels[slot];
    if (kernel === undefined) return undefined;
    const [x = 0, y = 0, z = 0, bx = 0, by = 0, bz = 0, sharedBytes = 0] = this.#numbers.subarray(
      slot * FIELDS,
      (slot + 1) * FIELDS,
    );
    return `${kernelLabel(kernel)} with ${describeLaunch({ grid: [x, y, z], block: [bx, by, bz], sharedBytes })}`;
  }
}
