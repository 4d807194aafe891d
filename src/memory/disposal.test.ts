import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

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

/** A clock by which every look at it takes some milliseconds. */
function slowClock(step: number): void {
  let now = 1e6;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += step;
    return now;
  });
}

const HERE = /disposal\.test\.ts:\d+:\d+/;

describe('where something was disposed', () => {
  it('is the first frame outside the library', () => {
    expect(dispose()).toMatch(HERE);
  });

  it('is known however much was disposed before', () => {
    for (let k = 0; k < 50_000; k++) disposal.captureSite(1);
    expect(dispose()).toMatch(HERE);
  });

  it('is known though the machine paused within captures', () => {
    slowClock(50);
    for (let k = 0; k < 20; k++) expect(dispose()).toMatch(HERE);
  });

  it('is not looked for where that is slow and happens often', () => {
    slowClock(0.1);
    const texts: string[] = [];
    for (let k = 0; k < 1000; k++) texts.push(dispose());
    expect(texts[0]).toMatch(HERE);
    expect(texts.filter((text) => text.includes('not recorded')).length).toBeGreaterThan(800);
  });

  it('is one for all that something disposes together', () => {
    const { atSite, captureSite } = disposal;
    const site = captureSite(0);
    atSite(site, () => expect(captureSite(1)).toBe(site));
    expect(captureSite(1)).not.toBe(site);
  });
});
