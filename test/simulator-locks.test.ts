/**
 * The order that locks and published flags make in the simulator: through atomics with fences, and not without either fence.
 */
import { expect, it } from 'vitest';
import { cuda, type i32, type Vec } from '../src/index.ts';

type Ints = Vec<i32>;

/** Launches a block of `threads` on the simulator; what it reports, or undefined. */
function report(body: (data: Ints, lock: Ints) => void, threads = 4): string | undefined {
  cuda.selectDevice('simulator');
  const [data, lock] = [cuda.toDevice(new Int32Array(4)), cuda.toDevice(new Int32Array(4))];
  try {
    cuda.jit(body).launch({ grid: 2, block: threads }, data, lock);
    cuda.synchronize();
    expect(data.get(0)).toBe(2 * threads);
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    cuda.close();
  }
}

it('a lock of compare-and-swap guards what is touched between two fences', () => {
  const body = (data: Ints, lock: Ints): void => {
    while (cuda.atomic.cas(lock, 0, 0, 1) !== 0);
    cuda.threadFence();
    data[0] += 1;
    cuda.threadFence();
    cuda.atomic.exch(lock, 0, 0);
  };
  expect(report(body)).toBeUndefined();
  expect(report(body, 70)).toBeUndefined();
});

it('a ticket lock does', () => {
  const body = (data: Ints, lock: Ints): void => {
    const ticket = cuda.atomic.add(lock, 0, 1);
    while (cuda.atomic.add(lock, 1, 0) !== ticket);
    cuda.threadFence();
    data[0] += 1;
    cuda.threadFence();
    cuda.atomic.add(lock, 1, 1);
  };
  expect(report(body)).toBeUndefined();
});

it('a flag published behind a fence does, for those that see it and pass one', () => {
  const body = (data: Ints, lock: Ints): void => {
    if (cuda.threadIdx.x === 0) {
      data[1] = 7;
      cuda.threadFence();
      cuda.atomic.exch(lock, 0, 1);
    } else {
      while (cuda.atomic.add(lock, 0, 0) === 0);
      cuda.threadFence();
      if (data[1] !== 7) data[2] = 1;
    }
    cuda.atomic.add(data, 0, 1);
  };
  expect(report(body)).toBeUndefined();
});

it('a counter does, for all who have counted behind a fence', () => {
  const body = (data: Ints, lock: Ints): void => {
    const t = cuda.threadIdx.x;
    if (t < 2) {
      data[1 + t] = 7;
      cuda.threadFence();
      cuda.atomic.add(lock, 0, 1);
    } else {
      while (cuda.atomic.add(lock, 0, 0) < 2);
      cuda.threadFence();
      if (data[1] + data[2] !== 14) cuda.atomic.add(data, 3, 1);
    }
    cuda.atomic.add(data, 0, 1);
  };
  expect(report(body)).toBeUndefined();
});

it('what is known of a thread stays known when something older is heard', () => {
  const body = (data: Ints, lock: Ints): void => {
    if (cuda.threadIdx.x === 0) {
      cuda.threadFence();
      cuda.atomic.exch(lock, 1, 1);
      data[1] = 7;
      cuda.threadFence();
      cuda.atomic.exch(lock, 0, 1);
    } else {
      while (cuda.atomic.add(lock, 0, 0) === 0);
      cuda.threadFence();
      cuda.atomic.add(lock, 1, 0);
      cuda.threadFence();
      if (data[1] !== 7) cuda.atomic.add(data, 3, 1);
    }
    cuda.atomic.add(data, 0, 1);
  };
  expect(report(body)).toBeUndefined();
});

it.each([
  [
    'without the fence that releases',
    (data: Ints, lock: Ints): void => {
      while (cuda.atomic.cas(lock, 0, 0, 1) !== 0);
      cuda.threadFence();
      data[0] += 1;
      cuda.atomic.exch(lock, 0, 0);
    },
  ],
  [
    'without the fence that acquires',
    (data: Ints, lock: Ints): void => {
      while (cuda.atomic.cas(lock, 0, 0, 1) !== 0);
      data[0] += 1;
      cuda.threadFence();
      cuda.atomic.exch(lock, 0, 0);
    },
  ],
  [
    'with fences and no lock',
    (data: Ints, _: Ints): void => {
      cuda.threadFence();
      data[0] += 1;
      cuda.threadFence();
    },
  ],
  [
    'with a lock of its own for each thread',
    (data: Ints, lock: Ints): void => {
      while (cuda.atomic.cas(lock, cuda.threadIdx.x, 0, 1) !== 0);
      cuda.threadFence();
      data[0] += 1;
      cuda.threadFence();
      cuda.atomic.exch(lock, cuda.threadIdx.x, 0);
    },
  ],
  [
    'with the fence before what is published',
    (data: Ints, lock: Ints): void => {
      if (cuda.threadIdx.x === 0) {
        cuda.threadFence();
        data[0] = 7;
        cuda.atomic.exch(lock, 0, 1);
      } else {
        while (cuda.atomic.add(lock, 0, 0) === 0);
        cuda.threadFence();
        if (data[0] !== 7) cuda.atomic.add(lock, 3, 1);
      }
    },
  ],
  [
    'when it is written once more behind the fence',
    (data: Ints, lock: Ints): void => {
      if (cuda.threadIdx.x === 0) {
        data[0] = 7;
        cuda.threadFence();
        cuda.atomic.exch(lock, 0, 1);
        data[0] = 8;
      } else {
        while (cuda.atomic.add(lock, 0, 0) === 0);
        cuda.threadFence();
        if (data[0] < 7) cuda.atomic.add(lock, 3, 1);
      }
    },
  ],
  [
    'behind a swap that fails',
    (data: Ints, lock: Ints): void => {
      if (cuda.threadIdx.x === 0) {
        data[0] = 7;
        cuda.threadFence();
        cuda.atomic.cas(lock, 0, 5, 9);
      } else {
        cuda.atomic.add(lock, 0, 1);
        cuda.threadFence();
        if (data[0] !== 7) cuda.atomic.add(lock, 3, 1);
      }
    },
  ],
  [
    'with the same element of another array',
    (data: Ints, lock: Ints): void => {
      if (cuda.threadIdx.x === 0) {
        data[3] = 7;
        cuda.threadFence();
        cuda.atomic.exch(lock, 0, 1);
      } else {
        cuda.atomic.add(data, 0, 1);
        cuda.threadFence();
        if (data[3] !== 7) cuda.atomic.add(lock, 3, 1);
      }
    },
  ],
  [
    'of a write with a read',
    (data: Ints, lock: Ints): void => {
      if (cuda.threadIdx.x === 0) lock[0] = data[0];
      else if (cuda.threadIdx.x === 1) data[0] = 7;
    },
  ],
  [
    'after the lock has been given back',
    (data: Ints, lock: Ints): void => {
      while (cuda.atomic.cas(lock, 0, 0, 1) !== 0);
      cuda.threadFence();
      data[0] += 1;
      cuda.threadFence();
      cuda.atomic.exch(lock, 0, 0);
      data[3] = cuda.threadIdx.x;
    },
  ],
])('a race is reported %s', (_, body) => {
  expect(report(body)).toMatch(/race: (reads|writes) data\[[03]\]/);
});
