/**
 * What the tour prints and writes: times against plain JavaScript, differences, pictures.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Picture, writePng } from './png.ts';

export interface Report {
  /** A chapter's title. */
  chapter(title: string): void;
  /** Times both, prints the speed-up. `kernel` must have finished when it returns. */
  race(what: string, kernel: () => void, plain: () => void, work?: { readonly flops: number }): void;
  /** Prints the largest difference of two results; throws when it is larger than `tolerance`. */
  compare(actual: ArrayLike<unknown>, expected: ArrayLike<number>, tolerance: number): void;
  picture(name: string, picture: Picture): void;
  say(text: string): void;
}

/** Shortest of several runs, and the first one, in milliseconds. */
function time(run: () => void, atLeast: number): { first: number; best: number } {
  let best = Number.POSITIVE_INFINITY;
  let first = 0;
  let spent = 0;
  for (let n = 0; n < 3 || (spent < atLeast && n < 50); n++) {
    const start = performance.now();
    run();
    const t = performance.now() - start;
    if (n === 0) first = t;
    else best = Math.min(best, t);
    spent += t;
  }
  return { first, best };
}

const ms = (t: number) => (t < 10 ? t.toFixed(2) : t.toFixed(0)).padStart(7);

export function makeReport(folder: string): Report {
  mkdirSync(folder, { recursive: true });
  const progress = (text: string) => {
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${text}`);
  };
  const clear = () => {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  };
  return {
    chapter: (title) => console.log(`\n${title}`),
    say: (text) => console.log(`  ${text}`),
    race(what, kernel, plain, work) {
      progress(`${what}: kernel …`);
      const fast = time(kernel, 150);
      progress(`${what}: plain JavaScript …`);
      const slow = time(plain, 150);
      clear();
      const rate = work === undefined ? '' : `  ${(work.flops / fast.best / 1e6).toFixed(1)} GFLOP/s`;
      console.log(
        `  ${what.padEnd(26)} ${ms(fast.best)} ms   plain JS ${ms(slow.best)} ms   ${(slow.best / fast.best).toFixed(1).padStart(5)}× faster${rate}   (first run ${fast.first.toFixed(0)} ms)`,
      );
    },
    compare(actual, expected, tolerance) {
      let worst = 0;
      if (actual.length !== expected.length) throw new Error(`${actual.length} values instead of ${expected.length}`);
      for (let k = 0; k < expected.length; k++) {
        const d = Math.abs(Number(actual[k]) - expected[k]);
        if (!(d <= worst)) worst = d;
      }
      if (!(worst <= tolerance)) throw new Error(`the results differ by up to ${worst}, more than ${tolerance}`);
      console.log(`  ${''.padEnd(26)} largest difference from plain JavaScript: ${worst.toPrecision(2)}`);
    },
    picture(name, picture) {
      const path = join(folder, name);
      const bytes = writePng(path, picture);
      console.log(`  wrote ${path} (${picture.width}×${picture.height}, ${(bytes / 1024).toFixed(0)} KiB)`);
    },
  };
}
