import { expect, test } from 'vitest';
import { random } from '../testing.ts';
import { BitSet } from './bitset.ts';

test('does what a Set does', () => {
  const rng = random(1);
  for (let round = 0; round < 200; round++) {
    const [a, model] = [new BitSet(), new Set<number>()];
    for (let k = 0; k < 30; k++) {
      const id = rng.below(100);
      if (rng.once(4)) {
        a.delete(id);
        model.delete(id);
      } else {
        a.add(id);
        model.add(id);
      }
      expect(a.has(id)).toBe(model.has(id));
    }
    expect([...a]).toEqual([...model].sort((x, y) => x - y));
    const copy = a.copy();
    expect(copy.addAll(a)).toBe(false);
    expect(copy.addAll(new BitSet([200]))).toBe(true);
    expect(a.has(200)).toBe(false);
    expect([...copy]).toEqual([...a, 200]);
  }
});
