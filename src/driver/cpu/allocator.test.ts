/** The allocator against a model: live blocks never overlap, freed bytes come back, and neighbours join. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALIGNMENT, Allocator } from './allocator.ts';

describe('Allocator', () => {
  it('keeps live blocks apart and aligned through any sequence of calls', () => {
    const step = fc.oneof(
      fc.record({ bytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 20_000 })) }),
      fc.record({ free: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const allocator = new Allocator(65536, 65536 + 400_000);
        const live: { start: number; end: number }[] = [];
        for (const step of steps) {
          if ('bytes' in step) {
            const start = allocator.allocate(step.bytes);
            if (start === undefined) {
              expect(allocator.largest).toBeLessThan(step.bytes);
              continue;
            }
            const end = start + (allocator.sizeOf(start) ?? 0);
            expect(start % ALIGNMENT).toBe(0);
            expect(end - start).toBeGreaterThanOrEqual(step.bytes);
            expect(start).toBeGreaterThanOrEqual(65536);
            expect(end).toBeLessThanOrEqual(allocator.top);
            for (const other of live) expect(start >= other.end || end <= other.start).toBe(true);
            live.push({ start, end });
          } else if (live.length > 0) {
            const [block] = live.splice(step.free % live.length, 1);
            expect(allocator.free(block?.start ?? 0)).toBe(true);
          }
          expect(allocator.live).toBe(live.reduce((sum, block) => sum + block.end - block.start, 0));
        }
        for (const block of live) allocator.free(block.start);
        expect(allocator.live).toBe(0);
        expect(allocator.allocate(400_000)).toBe(65536);
      }),
      { numRuns: 300 },
    );
  });

  it('reuses a freed block before it touches fresh memory', () => {
    const allocator = new Allocator(0, 1 << 30);
    const first = allocator.allocate(1_000_000) ?? -1;
    allocator.allocate(100);
    const { top } = allocator;
    for (let i = 0; i < 10_000; i++) {
      allocator.free(first);
      expect(allocator.allocate(1_000_000)).toBe(first);
    }
    expect(allocator.top).toBe(top);
  });

  it('finds the only fitting block behind many too small ones of its class', () => {
    const allocator = new Allocator(0, 64 * 1000);
    const blocks: number[] = [];
    for (let i = 0; i < 20; i++) {
      blocks.push(allocator.allocate(64 * (i === 0 ? 33 : 32)) ?? -1);
      allocator.allocate(64);
    }
    while (allocator.allocate(64) !== undefined);
    for (const block of blocks) allocator.free(block);
    expect(allocator.allocate(64 * 33)).toBe(blocks[0]);
  });

  it('refuses what does not fit and what was never given out', () => {
    const allocator = new Allocator(0, 1024);
    expect(allocator.allocate(1025)).toBeUndefined();
    const block = allocator.allocate(1000) ?? -1;
    expect(allocator.allocate(64)).toBeUndefined();
    expect(allocator.free(block + 64)).toBe(false);
    expect(allocator.free(block)).toBe(true);
    expect(allocator.free(block)).toBe(false);
    expect(allocator.largest).toBe(1024);
  });

  it('refuses what no memory has, however large, with free blocks about', () => {
    const allocator = new Allocator(65536, 2 ** 32);
    const address = allocator.allocate(1000) as number;
    allocator.allocate(64);
    allocator.free(address);
    for (const bytes of [2 ** 33, 2 ** 38, 2 ** 47, Number.MAX_SAFE_INTEGER]) {
      expect(allocator.allocate(bytes)).toBeUndefined();
    }
    expect(allocator.allocate(900)).toBe(address);
  });

  it('works above 4 GiB', () => {
    const allocator = new Allocator(65536, 16 * 2 ** 30);
    const gib = 2 ** 30;
    const blocks = Array.from({ length: 15 }, () => allocator.allocate(gib) ?? -1);
    expect(blocks[14]).toBe(65536 + 14 * gib);
    allocator.free(blocks[6] ?? 0);
    expect(allocator.allocate(gib)).toBe(blocks[6]);
    expect(allocator.allocate(2 * gib)).toBeUndefined();
  });
});
