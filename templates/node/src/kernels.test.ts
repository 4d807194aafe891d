import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cuda } from 'tsamba';
import { saxpy } from './kernels.ts';

// The simulator runs kernels thread by thread and reports races, divergent barriers and reads of unwritten memory.
cuda.selectDevice('simulator');

test('saxpy adds a multiple of x to y', () => {
  const y = cuda.toDevice(Float32Array.of(10, 20, 30));
  saxpy.launch({ threads: 3 }, 2, cuda.toDevice(Float32Array.of(1, 2, 3)), y);
  assert.deepEqual(Array.from(y.copyToHost()), [12, 24, 36]);
});
