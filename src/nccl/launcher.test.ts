import { expect, it } from 'vitest';
import { firstHost, launchedAs } from './launcher.ts';

it.each([
  [
    'torchrun',
    { RANK: '3', WORLD_SIZE: '4', LOCAL_RANK: '1', MASTER_ADDR: 'a', MASTER_PORT: '29500', TORCHELASTIC_RUN_ID: 'x' },
    { launcher: 'RANK', rank: 3, size: 4, localRank: 1, host: 'a', port: 29_501 },
  ],
  [
    'Slurm',
    {
      SLURM_PROCID: '5',
      SLURM_NTASKS: '16',
      SLURM_LOCALID: '5',
      SLURM_STEP_ID: '0',
      SLURM_STEP_NODELIST: 'gpu[07-08]',
      SLURM_JOB_ID: '123456',
    },
    { launcher: 'SLURM_PROCID', rank: 5, size: 16, localRank: 5, host: 'gpu07', port: 23_456 },
  ],
  [
    'Open MPI on one host',
    {
      OMPI_COMM_WORLD_RANK: '1',
      OMPI_COMM_WORLD_SIZE: '2',
      OMPI_COMM_WORLD_LOCAL_RANK: '1',
      OMPI_COMM_WORLD_LOCAL_SIZE: '2',
    },
    { launcher: 'OMPI_COMM_WORLD_RANK', rank: 1, size: 2, localRank: 1, host: '127.0.0.1', port: undefined },
  ],
  ['a batch script of Slurm', { SLURM_PROCID: '0', SLURM_NTASKS: '16' }, undefined],
  ['nobody', {}, undefined],
])('reads what %s says', (_, env, expected) => {
  expect(launchedAs(env)).toEqual(expected);
});

it('says what makes no sense, and finds the first host of a list', () => {
  expect(() => launchedAs({ RANK: '4', WORLD_SIZE: '4' })).toThrow('RANK=4 is not a rank');
  expect(() => launchedAs({ RANK: 'one', WORLD_SIZE: '4' })).toThrow('RANK=one is not a number');
  expect(['a,b', 'n[3,7-9]-x,b', 'gpu[001-8]'].map(firstHost)).toEqual(['a', 'n3-x', 'gpu001']);
});
