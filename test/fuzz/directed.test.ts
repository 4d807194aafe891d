/** Each operation on each type, on each renderer: executed, and right. */
import { describe, expect, it } from 'vitest';
import { Coverage, RENDERERS } from './coverage.ts';
import { openDevice } from './devices.ts';
import { BLOCK, directed, legalFor } from './directed.ts';
import { checkDirected } from './directed-run.ts';

const all = directed();

describe('operations one by one', () => {
  const coverage = new Coverage();
  it.each(['scalar', 'cpu', 'threads', 'simulator'] as const)('are right on %s', (name) => {
    const device = openDevice(name, coverage.observer);
    const wrong: string[] = [];
    for (const d of all) {
      if (name === 'simulator') coverage.observer(name, d.kernel, [BLOCK, 1, 1], 1);
      const what = checkDirected(device, d);
      if (what !== undefined) wrong.push(`${d.key}: ${what}`);
    }
    device.close();
    expect(wrong).toEqual([]);
  });

  it('are all executed by each renderer', () => {
    for (const renderer of RENDERERS) {
      expect(coverage.missing(renderer, legalFor(renderer, all)), renderer).toEqual([]);
    }
  });
});
