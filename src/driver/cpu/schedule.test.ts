/** When the pool is used: by measured time, and for contended kernels by comparison. */
import { describe, expect, it } from 'vitest';
import { Schedule } from './schedule.ts';

describe('Schedule', () => {
  it('keeps small launches on the caller and gives large ones to the pool', () => {
    const schedule = new Schedule(100, false, 2);
    expect(schedule.worthPool(1)).toBe(false);
    expect(schedule.worthPool(10)).toBe(false);
    expect(schedule.worthPool(1000)).toBe(true);
  });

  it('learns from what launches took', () => {
    const schedule = new Schedule(1, false, 2);
    expect(schedule.worthPool(10)).toBe(false);
    schedule.ranAlone(10, 5);
    expect(schedule.worthPool(10)).toBe(true);
    // A guess that was far too high is corrected although the kernel never ran alone.
    const wrong = new Schedule(1e6, false, 2);
    for (let i = 0; i < 40; i++) wrong.ranParallel(100, 0.001);
    expect(wrong.worthPool(100)).toBe(false);
  });

  it('corrects what was measured while the engine had not compiled the code well yet', () => {
    const schedule = new Schedule(100, false, 2);
    schedule.ranAlone(100, 10);
    expect(schedule.worthPool(100)).toBe(true);
    for (let i = 0; i < 40; i++) schedule.ranParallel(100, 0.002);
    expect(schedule.worthPool(100)).toBe(false);
  });

  it('gives short launches to the pool in bursts alone, where it is faster', () => {
    for (const [parallel, better] of [
      [0.008, true],
      [0.016, false],
    ] as const) {
      const schedule = new Schedule(150, false, 2);
      for (let i = 0; i < 3; i++) {
        expect(schedule.worthPool(100, () => true)).toBe(false);
        schedule.ranAlone(100, 0.015);
      }
      expect(schedule.worthPool(100)).toBe(false);
      for (let i = 0; i < 10; i++) {
        expect(schedule.worthPool(100, () => true)).toBe(true);
        schedule.ranParallel(100, parallel);
      }
      expect(schedule.worthPool(100, () => true)).toBe(better);
      expect(schedule.worthPool(100)).toBe(false);
    }
    expect(new Schedule(10, false, 2).worthPool(100, () => true)).toBe(false);
  });

  it('hands out as many blocks at a time as take about a microsecond', () => {
    expect(new Schedule(100, false, 2).grain).toBe(10);
    expect(new Schedule(1e6, false, 2).grain).toBe(1);
    expect(new Schedule(0, false, 2).grain).toBeGreaterThan(100);
  });

  it('tries both ways for contended kernels and keeps the better', () => {
    for (const [parallel, better] of [
      [2, true],
      [20, false],
    ] as const) {
      const schedule = new Schedule(1e6, true, 2);
      for (let i = 0; i < 3; i++) {
        expect(schedule.worthPool(100)).toBe(false);
        schedule.ranAlone(100, 10);
      }
      // Where it is not much slower it gets some more runs, in which threads start and code is compiled.
      for (let i = 0; i < (better ? 10 : 3); i++) {
        expect(schedule.worthPool(100)).toBe(true);
        schedule.ranParallel(100, i < 2 ? parallel + 5 : parallel);
      }
      const choices = Array.from({ length: 300 }, () => schedule.worthPool(100));
      // All the same, but for the launches that look again, ever less often.
      expect(choices.flatMap((choice, k) => (choice === better ? [] : [k + 1]))).toEqual([16, 48, 112, 240]);
    }
  });

  it('stops timing what is short', () => {
    const schedule = new Schedule(1, false, 2);
    for (let i = 0; i < 16; i++) schedule.ranAlone(1, 0.0001);
    const timed = Array.from({ length: 320 }, () => schedule.wantsTime(1)).filter(Boolean);
    expect(timed).toHaveLength(10);
  });
});
