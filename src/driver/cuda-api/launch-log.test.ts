import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { LaunchLog } from './launch-log.ts';

function kernel(name: string): Kernel {
  const pos = { source: { text: '', name }, start: 0, end: 0 };
  return {
    name,
    params: [],
    arrays: [],
    vars: [],
    body: [],
    indexBits: 32,
    checked: false,
    contract: true,
    fastMath: false,
    pos,
  };
}

const shape = { grid: [2, 1, 1], block: [32, 1, 1], sharedBytes: 0 } as const;

describe('the log of launches', () => {
  it('names the one kernel that can have failed', () => {
    const log = new LaunchLog();
    expect(log.suspects()).toBeUndefined();
    log.note(kernel('a'), { ...shape, sharedBytes: 64 });
    expect(log.last()).toBe('a with grid [2, 1, 1], block [32, 1, 1], 64 bytes of dynamic shared memory');
    expect(log.suspects()).toBe(`in kernel ${log.last()}`);
  });

  it('names all that were launched since the device ran dry, each once', () => {
    const log = new LaunchLog();
    log.note(kernel('old'), shape);
    log.clear();
    expect(log.last()).toBeUndefined();
    for (const name of ['a', 'b', 'b']) log.note(kernel(name), shape);
    expect(log.suspects()).toBe(
      'in one of the kernels launched since the device was last synchronised, newest first: ' +
        'b with grid [2, 1, 1], block [32, 1, 1]; a with grid [2, 1, 1], block [32, 1, 1]',
    );
  });

  it('says how many there were when they are too many to name', () => {
    const log = new LaunchLog();
    for (let k = 0; k < 100; k++) log.note(kernel('a'), shape);
    expect(log.suspects()).toMatch(/newest first: a with .*; 100 launches in all$/);
  });
});
