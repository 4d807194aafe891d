import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { collectGarbage } from './collect.ts';

type Module = typeof import('./disposal.ts');
let disposal: Module;

// What is counted is counted for the whole process.
beforeEach(async () => {
  vi.resetModules();
  disposal = await import('./disposal.ts');
});
afterEach(() => vi.restoreAllMocks());

/** What a class of the library does for its user: a frame of its own, then the user's. */
function dispose(): string {
  return disposal.captureSite(1).text;
}

/** A clock by which every look at it takes some milliseconds; it gives what lets it advance further. */
function slowClock(step: number): (ms: number) => void {
  let now = 1e6;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += step;
    return now;
  });
  return (ms) => {
    now += ms;
  };
}

const HERE = /disposal\.test\.ts:\d+:\d+/;

describe('where something was disposed', () => {
  it('is the first frame outside the library', () => {
    expect(dispose()).toMatch(HERE);
  });

  it('is known after the machine paused within captures', () => {
    slowClock(50);
    for (let k = 0; k < 20; k++) expect(dispose()).toMatch(/disposal\.test\.ts:\d+:\d+\)?$/);
  });

  it('is known in part where captures take too much of the time', () => {
    slowClock(0.1);
    const texts: string[] = [];
    for (let k = 0; k < 1000; k++) texts.push(dispose());
    const exact = texts.filter((text) => !text.includes('soon after'));
    expect(exact.length).toBeGreaterThan(50);
    expect(exact.length).toBeLessThan(300);
    for (const text of texts) expect(text).toMatch(HERE);
  });

  it('keeps nothing alive that was disposed', async () => {
    slowClock(0.1);
    const disposed = (() => {
      class Thing {
        readonly site = disposal.captureSite(1);
      }
      let last = new Thing();
      for (let k = 0; k < 1000; k++) last = new Thing();
      return new WeakRef(last);
    })();
    for (let k = 0; k < 20 && disposed.deref() !== undefined; k++) {
      await setImmediate();
      collectGarbage();
    }
    expect(disposed.deref()).toBe(undefined);
  });

  it('is looked for again after a pause', () => {
    const advance = slowClock(0.1);
    for (let k = 0; k < 1000; k++) dispose();
    advance(10);
    expect(dispose()).not.toMatch(/soon after/);
  });

  it('is one for all that something disposes together', () => {
    const { atSite, captureSite } = disposal;
    const site = captureSite(0);
    atSite(site, () => expect(captureSite(1)).toBe(site));
    expect(captureSite(1)).not.toBe(site);
  });
});
