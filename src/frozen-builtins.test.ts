/** Where the built-ins are frozen (`node --frozen-intrinsics`, lockdown), errors keep their classes and disposing works. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundled, runText } from '../test/support/program.ts';

const program = `
  import { cuda, DriverError, f32, KernelError } from ${JSON.stringify(bundled('src/index.ts')('index.ts'))};
  for (const value of [Error, TypeError, RangeError, Function, Object, Array, Float32Array, Map, Set, Promise]) {
    Object.freeze(value);
    Object.freeze(value.prototype);
  }
  const caught = (body) => {
    try {
      body();
      return 'nothing';
    } catch (error) {
      return error;
    }
  };
  const d = cuda.toDevice(Float32Array.of(1, 2));
  const add = cuda.jit((a, n) => { a[cuda.grid(1)] += n; });
  add.launch({ threads: 2, block: 2 }, d, 1);
  console.log(d.copyToHost().join());
  add.launch({ grid: 1, block: 3 }, d, 1);
  const fault = caught(() => cuda.synchronize());
  console.log(fault.name, fault instanceof DriverError);
  const wrong = caught(() => cuda.jit((a) => { a.b.c = 1; }).launch({ threads: 1 }, d));
  console.log(wrong.name, wrong instanceof KernelError, wrong.code);
  d.dispose();
  const gone = caught(() => d.get(0));
  console.log(gone.name, gone.code);
  cuda.event().dispose();
  cuda.stream().dispose();
  cuda.close();
`;

describe('frozen built-ins', () => {
  it.each(['cpu', 'simulator'])('change nothing on the device %s', async (device) => {
    const { stdout } = await promisify(execFile)(process.execPath, runText(program), {
      env: { ...process.env, TSAMBA_DEVICE: device },
      timeout: 30_000,
    });
    expect(stdout.trim().split('\n')).toEqual([
      '2,3',
      'DriverError true',
      'KernelError true K223',
      'RangeError E_DISPOSED',
    ]);
  });
});
