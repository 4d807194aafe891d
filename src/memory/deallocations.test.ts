import { describe, expect, it } from 'vitest';
import { Deallocations, type PendingItem } from './deallocations.ts';

/** A queue with Numba's defaults and a record of what was destroyed. */
function queue(maxCount = 10, maxBytes = 1000) {
  const destroyed: string[] = [];
  const items = new Deallocations(maxCount, maxBytes);
  const item = (name: string, bytes = 1): PendingItem => ({ bytes, destroy: () => destroyed.push(name) });
  return { destroyed, items, item };
}

describe('the queue of pending deallocations', () => {
  it('keeps ten items and frees all eleven, oldest first, with the eleventh', () => {
    const { destroyed, items, item } = queue();
    for (let k = 1; k <= 10; k++) {
      items.add(item(`${k}`));
      expect(items.length).toBe(k);
      expect(items.bytes).toBe(k);
    }
    expect(destroyed).toEqual([]);
    items.add(item('11'));
    expect(items.length).toBe(0);
    expect(items.bytes).toBe(0);
    expect(destroyed).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
  });

  it('keeps exactly the limit of bytes, and frees everything one byte above it', () => {
    const { destroyed, items, item } = queue();
    items.add(item('big', 1000));
    expect(items.length).toBe(1);
    items.add(item('last straw', 1));
    expect(items.length).toBe(0);
    expect(destroyed).toEqual(['big', 'last straw']);
  });

  it('frees at once with a limit of no items', () => {
    const { destroyed, items, item } = queue(0);
    items.add(item('a'));
    expect(destroyed).toEqual(['a']);
  });

  it('frees nothing while deferred, beyond any limit, until the next item after', () => {
    const { destroyed, items, item } = queue();
    const end = items.defer();
    for (let k = 0; k < 20; k++) items.add(item(`${k}`));
    expect(items.length).toBe(20);
    items.clear();
    expect(items.length).toBe(20);
    end();
    expect(items.length).toBe(20);
    items.add(item('20'));
    expect(items.length).toBe(0);
    expect(destroyed).toHaveLength(21);
    expect(destroyed[0]).toBe('0');
  });

  it('nests deferrals, in any order of ending, each counted once', () => {
    const { destroyed, items, item } = queue();
    const [outer, inner] = [items.defer(), items.defer()];
    items.add(item('a'));
    outer();
    outer();
    items.clear();
    expect(items.deferred).toBe(true);
    expect(destroyed).toEqual([]);
    inner();
    items.clear();
    expect(destroyed).toEqual(['a']);
  });

  it('drops an item whose free fails, throws, and keeps the rest with exact bytes for the next time', () => {
    const { destroyed, items, item } = queue();
    items.add(item('first', 2));
    items.add({
      bytes: 3,
      destroy: () => {
        throw new Error('the driver said no');
      },
    });
    items.add(item('third', 5));
    expect(() => items.clear()).toThrow('the driver said no');
    expect(destroyed).toEqual(['first']);
    expect([items.length, items.bytes]).toEqual([1, 5]);
    items.clear();
    expect(destroyed).toEqual(['first', 'third']);
    expect([items.length, items.bytes]).toEqual([0, 0]);
  });
});
