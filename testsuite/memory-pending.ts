/**
 * Chapter: freeing that is put off: the pending queue, what happens when memory runs out, and memory that nobody disposes.
 */
import { cuda, f32, OutOfMemoryError, u8 } from '../src/index.ts';
import { withFaults } from '../src/memory/with-faults.ts';
import { same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter, waiting } from './suite.ts';
import { read } from './waiting.ts';

const pending = (): { length: number; bytes: number; clear(): void } => cuda.currentContext().deallocations;
const freeOne = (): void => cuda.deviceArray(1, u8).dispose();

/** Ways to allocate, each of which tries again once what is pending has been freed. */
const ALLOCATIONS: Readonly<Record<string, () => { dispose(): void }>> = {
  'device arrays': () => cuda.deviceArray(10, f32),
  'copies to the device': () => cuda.toDevice(new Float32Array(10)),
  'pinned arrays': () => cuda.pinnedArray(10, f32),
  'mapped arrays': () => cuda.mappedArray(10, f32),
  'managed arrays': () => cuda.managedArray(10, f32),
  'pinning of arrays': () => cuda.pinned(new Float32Array(10)),
  'mapping of arrays': () => cuda.mapped(new Float32Array(10)),
};

function retries(allocate: () => { dispose(): void }): () => void {
  return () => {
    pending().clear();
    cuda.deviceArray(1000, f32).dispose();
    withFaults({ allocate: 1 }, () => {
      // The first allocation of the body fails, whichever of those that the call makes.
      const made = allocate();
      same(pending().length, 0, 'pending');
      made.dispose();
    });
    pending().clear();
    const { live } = cuda.memoryStats();
    withFaults({ allocate: [1, 2] }, () => throws(allocate, /made to fail|cannot allocate/, 'E_OUT_OF_MEMORY'));
    same(cuda.memoryStats().live, live, 'bytes live');
    allocate().dispose();
  };
}

export const pendingDeallocations: readonly ConformanceTest[] = chapter('pending deallocations', {
  'the eleventh free frees all eleven': () => {
    pending().clear();
    const { frees } = cuda.memoryStats();
    for (let k = 1; k <= 10; k++) {
      freeOne();
      same(pending().length, k);
      same(pending().bytes, k);
    }
    freeOne();
    same(pending().length, 0);
    same(cuda.memoryStats().frees, frees + 11);
  },
  'twenty frees inside deferCleanup wait for the one after it': () => {
    pending().clear();
    const { frees } = cuda.memoryStats();
    cuda.deferCleanup(() => {
      for (let k = 0; k < 20; k++) freeOne();
      same(pending().length, 20);
    });
    same(pending().length, 20);
    freeOne();
    same(pending().length, 0);
    same(cuda.memoryStats().frees, frees + 21);
  },
  'an exception in an inner deferCleanup leaves the outer one in force': () => {
    pending().clear();
    cuda.deferCleanup(() => {
      throws(
        () =>
          cuda.deferCleanup(() => {
            freeOne();
            throw new Error('midway');
          }),
        /midway/,
      );
      for (let k = 0; k < 20; k++) freeOne();
      same(pending().length, 21);
    });
    freeOne();
    same(pending().length, 0);
  },
  'a free that fails ends the flush, and the rest waits for the next': () => {
    pending().clear();
    for (let k = 0; k < 3; k++) freeOne();
    const { frees } = cuda.memoryStats();
    withFaults({ free: 2 }, (calls) => {
      throws(() => pending().clear(), /free number 2 was made to fail/, 'E_INJECTED');
      same(pending().length, 1);
      same(pending().bytes, 1);
      pending().clear();
      same(calls.free, 3);
    });
    same(pending().bytes, 0);
    same(cuda.memoryStats().frees, frees + 3);
  },
  ...Object.fromEntries(
    Object.entries(ALLOCATIONS).map(([name, allocate]) => [
      `${name} free what is pending when memory runs out, and try once more`,
      retries(allocate),
    ]),
  ),
  'running out of memory says what helps in a loop': () => {
    withFaults({ allocate: [1, 2] }, () => {
      let message = '';
      try {
        cuda.deviceArray(1000, f32);
      } catch (error) {
        same(error instanceof OutOfMemoryError, true, 'an OutOfMemoryError');
        message = String(error);
      }
      same(/`using`, dispose\(\) or scope\(\)/.test(message), true, 'using, dispose and scope are named');
      same(/4000 bytes/.test(message), true, 'the bytes asked for are named');
    });
  },
  'memory that asynchronous code drops comes back': waiting(async () => {
    const start = cuda.memoryStats().live;
    let most = 0;
    let live = 0;
    const later = typeof setImmediate === 'function' ? setImmediate : setTimeout;
    // Collections take a twentieth of the time: after a slow one in another test this may take a while.
    for (let turn = 0; turn < 300_000 && live * 2 >= most; turn++) {
      cuda.deviceArray(2 ** 18, f32);
      live = cuda.memoryStats().live - start;
      most = Math.max(most, live);
      await new Promise((resolve) => later(resolve, 0));
    }
    same(live * 2 < most, true, `${live} bytes live of ${most} at most: the rest came back`);
    const last = cuda.toDevice(Float32Array.of(1, 2));
    sameElements(await read(last), [1, 2]);
  }),
});
