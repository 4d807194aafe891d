/**
 * Random programs of `tsamba/parallel` on the CPU device, with one thread and with several, and on the simulator. FUZZ_PARALLEL=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { CpuDriver, cpuProvider } from '../../src/driver/cpu/device.ts';
import { cuda } from '../../src/index.ts';
import { NAMES, runParallel } from './parallel.ts';

/** Of each kind a program, in all runs of tests several; each compiles kernels of its own. */
const ROUNDS = process.env['MODE'] === 'all' ? 12 : 1;
const PROGRAMS = Number(process.env['FUZZ_PARALLEL'] ?? ROUNDS * NAMES.length);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);

afterAll(() => cuda.selectDevice('cpu'));

it('give on the CPU device what plain JavaScript gives, and leave nothing behind', { timeout: 1_200_000 }, async () => {
  cuda.selectDevice('cpu');
  expect((await runParallel({ programs: PROGRAMS, seed: FIRST })).join('\n')).toBe('');
});

// Thread by thread, the simulator takes its time.
it('give the same in the simulator', { timeout: 1_200_000 }, async () => {
  cuda.selectDevice('simulator');
  const programs = Math.ceil(PROGRAMS / (ROUNDS === 1 ? 3 : 1));
  expect((await runParallel({ programs, seed: FIRST + 7, most: 300 })).join('\n')).toBe('');
});

// Blocks in the order of their tickets find what they look back for.
it('give the same by the kernels for NVIDIA GPUs, whose tiles look back', { timeout: 1_200_000 }, async () => {
  const { open } = cpuProvider;
  cuda.close();
  const asNvidia = (driver: CpuDriver): CpuDriver => Object.assign(driver, { info: nvidia(driver.info) });
  Object.assign(cpuProvider, { open: () => asNvidia(new CpuDriver(0)) });
  try {
    cuda.selectDevice('cpu');
    expect(cuda.currentDevice().kind).toBe('nvidia');
    expect((await runParallel({ programs: Math.ceil(PROGRAMS / 2), seed: FIRST + 23 })).join('\n')).toBe('');
  } finally {
    cuda.close();
    Object.assign(cpuProvider, { open });
  }
});

const nvidia = (info: CpuDriver['info']): CpuDriver['info'] => ({ ...info, kind: 'nvidia' });
