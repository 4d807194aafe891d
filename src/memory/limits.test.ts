import { afterEach, describe, expect, it, vi } from 'vitest';
import { deallocationLimits } from './limits.ts';

describe('limits of the pending queue', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  afterEach(() => warn.mockClear());

  it('are ten items and a fifth of the memory', () => {
    expect(deallocationLimits({})).toEqual({ maxCount: 10, ratio: 0.2 });
  });

  it('come from our variables, else from Numba’s', () => {
    expect(
      deallocationLimits({
        TSAMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT: '3',
        NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT: '4',
        NUMBA_CUDA_MAX_PENDING_DEALLOCS_RATIO: '0.5',
      }),
    ).toEqual({ maxCount: 3, ratio: 0.5 });
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    ['TSAMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT', 'many'],
    ['TSAMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT', '2.5'],
    ['NUMBA_CUDA_MAX_PENDING_DEALLOCS_RATIO', '-1'],
  ])('stay at the default, with a warning, for %s=%s', (name, value) => {
    expect(deallocationLimits({ [name]: value })).toEqual({ maxCount: 10, ratio: 0.2 });
    expect(warn).toHaveBeenCalledOnce();
    expect(String(warn.mock.calls[0]?.[0])).toContain(`${name}=${value}`);
  });

  it('accept zero', () => {
    expect(deallocationLimits({ TSAMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT: '0' }).maxCount).toBe(0);
  });
});
