import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import * as host from '../../host/index.ts';
import { mayHaveGpu } from './hardware.ts';

beforeEach(() => {
  vi.spyOn(host, 'platformName').mockReturnValue('linux');
  for (const name of ['TSAMBA_OPENCL_DEVICE', 'TSAMBA_OPENCL_LIBRARY']) vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const machine = (files: Readonly<Record<string, readonly string[]>>) => mayHaveGpu((folder) => files[folder]);
const PLAIN = ['null', 'tty', 'shm'];

it.each([
  ['a container without devices', { '/dev': PLAIN }, false],
  ['a server whose graphics only draw', { '/dev': [...PLAIN, 'dri'], '/dev/dri': ['by-path', 'card0'] }, false],
  ['a laptop', { '/dev': [...PLAIN, 'dri'], '/dev/dri': ['card1', 'renderD128'] }, true],
  ['NVIDIA', { '/dev': [...PLAIN, 'nvidia0', 'nvidiactl'] }, true],
  ["Windows' Linux subsystem", { '/dev': [...PLAIN, 'dxg'] }, true],
  ['a board with a Mali', { '/dev': [...PLAIN, 'mali0'] }, true],
  ['where nobody may look', {}, true],
  ['where nobody may look further', { '/dev': [...PLAIN, 'dri'] }, true],
])('%s', (_, files: Readonly<Record<string, readonly string[]>>, expected) => {
  expect(machine(files)).toBe(expected);
});

it('says so of every machine that is no Linux, and where an OpenCL device is named', () => {
  vi.stubEnv('TSAMBA_OPENCL_DEVICE', 'pocl');
  expect(machine({ '/dev': PLAIN })).toBe(true);
  vi.stubEnv('TSAMBA_OPENCL_DEVICE', undefined);
  vi.spyOn(host, 'platformName').mockReturnValue('darwin');
  expect(machine({ '/dev': PLAIN })).toBe(true);
});
