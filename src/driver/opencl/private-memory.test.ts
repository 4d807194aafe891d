import { describe, expect, it } from 'vitest';
import { privateBytesPerGroup, stackOf } from './private-memory.ts';

describe('the stack of threads', () => {
  it.each([
    ['Max stack size            8388608              unlimited            bytes', 8_388_608],
    ['Max cpu time  unlimited  seconds\nMax stack size            1048576              8388608    bytes', 1_048_576],
    ['Max stack size            unlimited            unlimited            bytes', 2_097_152],
    ['', 2_097_152],
  ])('by %j', (limits, bytes) => {
    expect(stackOf(limits)).toBe(bytes);
  });

  it('bounds groups on processors alone', () => {
    expect(privateBytesPerGroup({ hardware: 'cpu' })).toBeGreaterThan(2 ** 18);
    expect(privateBytesPerGroup({ hardware: 'gpu' })).toBeUndefined();
  });
});
