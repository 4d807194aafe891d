/**
 * Chapter: control flow of the kernel language, as threads of one block part and meet again.
 */

import { cuda, type i32, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { integers } from './support.ts';
import { launch, read } from './waiting.ts';

const MODE = 'fast' as string;

const collatz = (start: number, most: number) => {
  let n = start;
  let steps = 0;
  while (n > 1) {
    if (steps >= most) return -1;
    n = n % 2 === 0 ? (n / 2) | 0 : 3 * n + 1;
    steps++;
  }
  return steps;
};

const firstDivisor = (n: number) => {
  if (n < 2) return 0;
  for (let d = 2; d * d <= n; d++) {
    if (n % d === 0) return d;
  }
  return n;
};

export const flow: readonly ConformanceTest[] = chapter('control flow', {
  'a value that goes down in steps, each compared with the same number': async () => {
    const kernel = cuda.jit((y: Vec<i32>, n: number) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      let sum = 0;
      for (let k = 0; k < n; k++) {
        let v = k + i;
        if (v < 9) sum += 1;
        else {
          v -= 9;
          if (v < 9) sum += 10;
          else {
            v -= 9;
            sum += v < 9 ? 100 : 1000;
          }
        }
      }
      y[i] = sum;
    });
    const y = cuda.deviceArray(40, 'int32');
    await launch(kernel, { threads: 40, block: 20 }, y, 3);
    const worth = (v: number): number => 10 ** Math.min(Math.floor(v / 9), 3);
    sameElements(
      await read(y),
      Array.from({ length: 40 }, (_, i) => worth(i) + worth(i + 1) + worth(i + 2)),
    );
  },

  'if and else': integers((k, x) => {
    if (x[k] > 20) return 1;
    else if (x[k] < -20) return 2;
    return x[k] === 0 ? 3 : 4;
  }),
  'ifs within ifs': integers((k, x) => {
    let r = 0;
    if (x[k] & 1) {
      r = 1;
      if (x[k] & 2) {
        r += 10;
        if (x[k] & 4) r += 100;
        else r += 200;
      } else if (x[k + 1] & 2) r += 20;
      r *= 3;
    } else {
      if (x[k] & 8) r = 7;
    }
    return r;
  }),
  'loops that each thread leaves at its own time': integers((k, x) => {
    let s = 0;
    let n = x[k] & 63;
    while (n > 1) {
      n = n % 2 === 0 ? (n / 2) | 0 : 3 * n + 1;
      s++;
      if (s > 40) break;
    }
    return s * 100 + n;
  }),
  'loops that some threads never enter': integers((k, x) => {
    let s = 1;
    for (let i = 0; i < x[k]; i++) {
      if (i > 20) break;
      s = (s * 3 + i) & 0xffff;
    }
    return s;
  }),
  'do while and continue': integers((k, x) => {
    let s = 0;
    let i = 0;
    do {
      i++;
      if ((x[k] >> i) & 1) continue;
      s += i;
    } while (i < 10);
    return s;
  }),
  'continue in a for loop still steps': integers((k, x) => {
    let s = 0;
    for (let i = 0; i < 12; i++) {
      if ((x[k] >> i) & 1) continue;
      s = s * 2 + i;
    }
    return s;
  }),
  'loops with two counters, counting down, by odd steps': integers((k, x) => {
    let s = 0;
    for (let i = 0, j = 20; i < j; i += 3, j--) s += i * j + (x[k] & 3);
    for (let i = 10; i >= 0; i -= 2) s -= i;
    for (let i = 1; i < 1000; i *= 3) s ^= i;
    return s;
  }),
  'loops without a head': integers((k, x) => {
    let n = x[k] & 31;
    for (;;) {
      n -= 5;
      if (n < 0) break;
    }
    while (true) {
      n += 7;
      if (n > 20) break;
    }
    return n;
  }),
  'labelled break and continue': integers((k, x) => {
    let s = 0;
    outer: for (let a = 0; a < 6; a++) {
      for (let b = 0; b < 6; b++) {
        if (a * b > (x[k] & 15)) break outer;
        if (b > a) continue outer;
        s += a * 10 + b;
      }
    }
    return s;
  }),
  'labels on three levels': integers((k, x) => {
    let s = 0;
    const v = x[k] & 31;
    a: for (let i = 0; i < 4; i++) {
      b: for (let j = 0; j < 4; j++) {
        let n = 0;
        while (true) {
          n++;
          s += 1;
          if (n * j > v) continue b;
          if (n + i > (x[k + 1] & 7)) continue a;
          if (s > 60) break a;
          if (n === 5) break b;
          if (n > 3) break;
        }
        s += 100;
      }
      s += 1000;
    }
    return s;
  }),
  'a labelled block left in the middle': integers((k, x) => {
    let r = 0;
    found: {
      if (x[k] > 10) {
        r = 1;
        break found;
      }
      r = 2;
      if (x[k + 1] > 10) break found;
      r = 3;
    }
    return r * 10;
  }),
  'switch with fall through': integers((k, x) => {
    let r = 0;
    switch (x[k] & 7) {
      case 0:
        r = 1;
        break;
      case 1:
        r = 10;
      case 2:
        r += 100;
        break;
      default:
        r = 7;
      case 5: {
        r += 1000;
        break;
      }
      case 6:
        return -6;
    }
    return r;
  }),
  'switch without default, in a loop, with continue': integers((k, x) => {
    let s = 0;
    for (let i = 0; i < 8; i++) {
      switch ((x[k] >> i) & 3) {
        case 1:
          continue;
        case 2:
          s += 10;
          break;
        case 3:
          s += i;
      }
      s++;
    }
    return s;
  }),
  'switch on a value that is not an integer': integers((k, x) => {
    switch ((x[k] & 7) * 0.5) {
      case 0.5:
        return 1;
      case 1.5:
        return 2;
      case 2:
        return 3;
      default:
        return 4;
    }
  }),
  'switch whose cases have side effects, until one holds': integers((k, x) => {
    let n = 0;
    const next = () => {
      n += 3;
      return n;
    };
    switch (x[k] & 15) {
      case n++:
        return 10 + n;
      default:
        return 20 + n;
      case next():
      case next() + 1:
        n *= 2;
      case 9:
        return 30 + n;
    }
  }),
  'switch on a captured string': integers((k, x) => {
    switch (MODE) {
      case 'slow':
        return x[k];
      case 'fast':
      case 'faster':
        return x[k] * 2;
      default:
        return -1;
    }
  }),
  'switch whose cases are computed': integers((k, x) => {
    const v = x[k];
    switch (true) {
      case v < 0:
        return -1;
      case v > 25:
        return 1;
    }
    switch (v & 3) {
      case x[k + 1] & 3:
        return 10;
      case x[k + 2] & 3:
        return 20;
    }
    return 0;
  }),
  'early return from within loops and switches': integers((k, x) => {
    for (let i = 0; i < 5; i++) {
      for (let j = 0; j < 5; j++) {
        if (i * j === (x[k] & 15)) return i * 10 + j;
      }
      switch (x[k + i] & 3) {
        case 3:
          return 1000 + i;
      }
    }
    return -1;
  }),
  'a return of its own for every thread': integers((k, x) => {
    const v = x[k];
    if (v === 0) return 0;
    if (v < 0) {
      if (v & 1) return 1;
      return 2;
    }
    while (true) {
      if ((v & 3) === 1) return 3;
      if ((v & 3) === 2) return 4;
      break;
    }
    return 5;
  }),
  'divergent loops in divergent loops in branches': integers((k, x) => {
    let s = 0;
    if (x[k] > 0) {
      for (let a = 0; a < (x[k] & 7); a++) {
        let b = a;
        while (b < (x[k + 1] & 15)) {
          for (let c = 0; c < 3; c++) {
            if (((x[k + 2] >> c) & 1) === 1) continue;
            if (s > 500) break;
            s += a + b * c + 1;
          }
          b += 2;
          if (b === 9) break;
        }
      }
    } else {
      do {
        s--;
        if ((s + x[k]) % 5 === 0) return s * 1000;
      } while (s > -9);
    }
    return s;
  }),
  'ternaries, && and || with side effects': integers((k, x) => {
    let a = 0;
    let b = 0;
    x[k] > 0 ? ((a = x[k] & 7), b++) : b--;
    x[k + 1] > 5 && (b += 5);
    x[k + 2] > 5 || (a += 7);
    const c = a > 3 && x[k + 3] > 0 ? b++ : --b;
    return a * 1000 + b * 10 + c;
  }),
  'chains of conditions': integers((k, x) => {
    let r = 0;
    if ((x[k] > 0 && x[k + 1] > 0) || (x[k] < 0 && !(x[k + 1] < 0))) r = 1;
    if (x[k] > 0 !== x[k + 1] > 0) r += 2;
    return r + (x[k] > 5 ? (x[k] > 10 ? 30 : 20) : x[k] > 0 ? 10 : 0);
  }),
  'guarded access': integers((k, x) => (k > 0 && x[k - 1] > 10 ? x[k - 1] & 255 : k + 1 < 200 && x[k + 1] < 0 ? 2 : 3)),
  'order of evaluation': integers((k, x) => {
    let v = x[k] & 15;
    const s = v + (v = 5) + v++ * v;
    return s * 10 + v;
  }),
  'order of evaluation across calls': integers((k, x) => {
    let n = x[k] & 15;
    const next = (by: number) => {
      n += by;
      return n;
    };
    const s = n * 10000 + next(1) * 100 + next(2);
    return s - next(-5) * next(2);
  }),
  'functions with loops and returns inside': integers(
    (k, x) => collatz(x[k] & 63, 60) * 100 + firstDivisor(x[k + 1] & 127),
  ),
  'functions called from divergent branches and loops': integers((k, x) => {
    let s = 0;
    for (let i = 0; i < 4; i++) {
      if ((x[k] >> i) & 1) s += collatz((x[k + i] & 15) + 1, 30);
      else if ((x[k] >> (i + 4)) & 1) s += firstDivisor(x[k + 1] & 63);
    }
    return s;
  }),
  'the comma operator': integers((k, x) => {
    let a = 0;
    let b = 0;
    for (a = x[k] & 7, b = 0; a > 0; a--, b += 2);
    return (a++, b++, a * 100 + b);
  }),
  'empty statements and empty blocks': integers((k, x) => {
    let n = x[k] & 7;
    while (n-- > 0);
    if (n > 100) {
    } else n--;
    return n;
  }),
});
