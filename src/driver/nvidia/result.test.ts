import { describe, expect, it } from 'vitest';
import { describeResult, driverError, isSticky } from '../cuda-api/result.ts';
import { CUDA_VOCABULARY } from './result.ts';

const cuda = {
  vocabulary: CUDA_VOCABULARY,
  cuGetErrorName: (code: number, out: [string | null]): number => {
    out[0] = code === 700 ? 'CUDA_ERROR_ILLEGAL_ADDRESS' : null;
    return 0;
  },
  cuGetErrorString: (code: number, out: [string | null]): number => {
    out[0] = code === 700 ? 'an illegal memory access was encountered' : null;
    return 0;
  },
};

describe('results of driver calls', () => {
  it('are told in the driver’s own words, with ours around them', () => {
    const error = driverError(cuda, 700, 'cuStreamSynchronize', {
      about: 'in kernel saxpy',
      launch: 'saxpy with grid …',
    });
    expect(error.code).toBe('E_ILLEGAL_ADDRESS');
    expect(error.api).toBe('cuStreamSynchronize');
    expect(error.launch).toBe('saxpy with grid …');
    expect(error.message).toBe(
      'cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered\n' +
        '  in kernel saxpy\n' +
        '  help: checked mode (boundsCheck: true) names the array and the index',
    );
  });

  it('are numbers where the driver has no words', () => {
    expect(describeResult(cuda, 12_345)).toBe('CUDA error (12345)');
    expect(driverError(cuda, 12_345, 'cuInit').code).toBe('E_DRIVER');
  });

  it('are sticky when the context does not survive them', () => {
    expect([700, 716, 719, 710, 214, 999].every((result) => isSticky(cuda, result))).toBe(true);
    expect([1, 2, 100, 218, 222, 400, 600, 701, 720].some((result) => isSticky(cuda, result))).toBe(false);
  });
});
