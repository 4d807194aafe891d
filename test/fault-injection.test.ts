/**
 * Whatever call fails, and whichever time: nothing is lost, nothing is freed twice, and the counts are exact.
 *
 * The device checks every address, so that a second free, or a copy to memory that is gone, is an error of its own.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FaultKind } from '../src/driver/fault-injection.ts';
import { cuda, f32, f64, ndarray, SmartArray, scope } from '../src/index.ts';
import { withFaults } from '../src/memory/with-faults.ts';
import { freshBlockDevice } from './support/with-device.ts';

const device = freshBlockDevice(1 << 20);

interface Disposable {
  dispose(): void;
}

/** One of everything that allocates, frees or copies; `made` is for what `scope` does not know. */
function everything(made: Disposable[]): void {
  const keep = <T extends Disposable>(object: T): T => {
    made.push(object);
    return object;
  };
  const a = keep(cuda.toDevice(Float32Array.of(1, 2, 3, 4, 5, 6)));
  const matrix = keep(a.reshape([2, 3]));
  keep(keep(matrix.T).reshape([6]));
  keep(cuda.deviceArrayLike(matrix)).copyToDevice(matrix);
  a.slice('1:').set(a.slice(':-1'));
  a.set([9, 8, 7], '::2');
  matrix.copyToHost(ndarray.zeros([2, 3], { dtype: f32, order: 'F' }));
  a.get(3);
  keep(cuda.pinnedArray(10, f64));
  const mapped = keep(cuda.mappedArray([2, 2], f32));
  keep(cuda.managedArray(3, f32));
  mapped.set(1);
  cuda.pinned(new Float32Array(8), () => a.copyToHost());
  cuda.mapped(new Float32Array(8), ([d]) => d.set(2));
  const smart = keep(new SmartArray(new Float32Array(4)));
  smart.get('gpu').set(5);
  smart.markChanged('gpu');
  smart.at(0);
  scope(() => cuda.toDevice([1, 2]).slice([0, 1]));
  for (let k = 0; k < 12; k++) cuda.deviceArray(100).dispose();
}

/** Frees all that is pending, however many frees fail. */
function flush(): void {
  const { deallocations } = device.context;
  while (deallocations.length > 0) {
    try {
      deallocations.clear();
    } catch {
      // Reported; the rest waits for the next time.
    }
  }
}

function callsOf(kind: FaultKind): number {
  let calls = 0;
  const made: Disposable[] = [];
  withFaults({}, (counts) => {
    try {
      scope(() => everything(made));
    } catch {
      // The same on each run.
    }
    for (const object of made) object.dispose();
    flush();
    calls = counts[kind];
  });
  return calls;
}

describe.each(['allocate', 'free', 'copy'] as const)('when a call of kind %s fails', (kind) => {
  let warn: { mockRestore(): void };
  beforeEach(() => {
    warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  });
  afterEach(() => warn.mockRestore());

  it('every one of them in turn, nothing is lost and nothing freed twice', () => {
    const total = callsOf(kind);
    expect(total).toBeGreaterThan(5);
    const { driver, context } = device;
    const start = driver.live;
    expect(start).toBe(0);
    for (let n = 1; n <= total; n++) {
      // For allocations: the retry fails, too.
      const plan = kind === 'allocate' ? { allocate: [n, n + 1] } : { [kind]: n };
      const made: Disposable[] = [];
      const before = driver.live;
      withFaults(plan, () => {
        try {
          scope(() => everything(made));
        } catch (error) {
          expect(String(error)).toMatch(/made to fail|cannot allocate/);
        }
        for (const object of made) {
          try {
            object.dispose();
          } catch (error) {
            expect(String(error)).toContain('made to fail');
          }
        }
        flush();
      });
      // A free that fails leaves its block with the driver; nobody has it any more.
      const lost = driver.live - before;
      if (kind !== 'free') expect([n, lost]).toEqual([n, 0]);
      expect(new Set(driver.freed).size, 'blocks that were freed, each once').toBe(driver.freed.length);
      const stats = context.memoryStats();
      expect([n, stats.live, stats.pending]).toEqual([n, 0, 0]);
      expect([n, stats.allocations - stats.frees]).toEqual([n, 0]);
    }
    // The device is as good as before.
    const d = cuda.toDevice(Float32Array.of(1, 2));
    expect(d.copyToHost()).toEqual(Float32Array.of(1, 2));
    d.dispose();
  });
});
