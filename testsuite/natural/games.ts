/**
 * Natural kernels of games, sound, money and geometry, with classes, closures and records.
 */
import { doubles, floats, integers, numbers, type Programs, program, text } from './program.ts';

class OnePole {
  #y = 0;
  readonly a: number;
  constructor(a: number) {
    this.a = a;
  }
  next(x: number): number {
    this.#y += this.a * (x - this.#y);
    return this.#y;
  }
}

class Biquad {
  x1 = 0;
  x2 = 0;
  y1 = 0;
  y2 = 0;
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
  constructor(b: readonly [number, number, number], a: readonly [number, number]) {
    this.b = b;
    this.a = a;
  }
  static lowpass(w: number, q: number): Biquad {
    const alpha = Math.sin(w) / (2 * q);
    const c = Math.cos(w);
    const a0 = 1 + alpha;
    return new Biquad([(1 - c) / 2 / a0, (1 - c) / a0, (1 - c) / 2 / a0], [(-2 * c) / a0, (1 - alpha) / a0]);
  }
  process(x: number): number {
    const { b, a } = this;
    const y = b[0] * x + b[1] * this.x1 + b[2] * this.x2 - a[0] * this.y1 - a[1] * this.y2;
    [this.x2, this.x1] = [this.x1, x];
    [this.y2, this.y1] = [this.y1, y];
    return y;
  }
}

const Move = { Rock: 0, Paper: 1, Scissors: 2 } as const;

export const games: Programs = {
  'a filter that is a class with a private field': program(4, [doubles(64, -1, 1), new Float64Array(64)], (i, x, y) => {
    const filter = new OnePole(0.1 + 0.2 * i);
    for (let k = 0; k < 16; k++) y[16 * i + k] = filter.next(x[16 * i + k]);
  }),

  'a low pass made by a static method': program(3, [doubles(60, -1, 1), new Float64Array(60)], (i, x, y) => {
    const filter = Biquad.lowpass(0.3 * (i + 1), Math.SQRT1_2);
    for (let k = 20 * i; k < 20 * (i + 1); k++) y[k] = filter.process(x[k]);
  }),

  'an envelope of four stages': program(32, [new Float64Array(32)], (i, out) => {
    const { attack, decay, sustain, release, hold } = { attack: 4, decay: 6, sustain: 0.6, release: 8, hold: 20 };
    const level = (t: number): number => {
      if (t < attack) return t / attack;
      if (t < attack + decay) return 1 - ((1 - sustain) * (t - attack)) / decay;
      return sustain;
    };
    out[i] = i < hold ? level(i) : Math.max(0, level(hold) * (1 - (i - hold) / release));
  }),

  'oscillators chosen by their name': program(
    48,
    [new Float64Array(48), ['sine', 'saw', 'square'] as const],
    (i, out, [a, b, c]) => {
      const wave = (kind: string, phase: number): number => {
        switch (kind) {
          case 'sine':
            return Math.sin(2 * Math.PI * phase);
          case 'saw':
            return 2 * (phase - Math.floor(phase + 0.5));
          default:
            return phase % 1 < 0.5 ? 1 : -1;
        }
      };
      out[i] = 0.5 * wave(a, i / 48) + 0.25 * wave(b, i / 24) + 0.25 * wave(c, i / 12);
    },
  ),

  'a comb filter with a ring buffer': program(4, [doubles(128, -1, 1), new Float64Array(128)], (i, x, y) => {
    const ring = new Float64Array(7);
    let at = 0;
    for (let k = 0; k < 32; k++) {
      const delayed = ring[at];
      ring[at] = x[32 * i + k] + 0.5 * delayed;
      y[32 * i + k] = delayed;
      at = (at + 1) % ring.length;
    }
  }),

  'rock, paper, scissors by an enum': program(
    27,
    [integers(27, 0, 3), integers(28, 0, 3), new Int8Array(27)],
    (i, a, b, score) => {
      const beats = (x: number, y: number): boolean =>
        (x === Move.Rock && y === Move.Scissors) ||
        (x === Move.Paper && y === Move.Rock) ||
        (x === Move.Scissors && y === Move.Paper);
      score[i] = beats(a[i], b[i]) ? 1 : beats(b[i], a[i]) ? -1 : 0;
    },
  ),

  'four in a row, by bitboards': program(
    12,
    [BigUint64Array.from(numbers(12, 0, 2 ** 42), BigInt), new Uint8Array(12)],
    (i, boards, won) => {
      const b = boards[i];
      for (const shift of [1n, 7n, 6n, 8n]) {
        const pairs = b & (b >> shift);
        if ((pairs & (pairs >> (2n * shift))) !== 0n) won[i] = 1;
      }
    },
  ),

  'mines around a cell': program(64, [integers(64, 0, 4), new Uint8Array(64)], (i, field, around) => {
    const [x, y] = [i % 8, Math.floor(i / 8)];
    let n = 0;
    for (const dy of [-1, 0, 1]) {
      for (const dx of [-1, 0, 1]) {
        if (dx === 0 && dy === 0) continue;
        const [u, v] = [x + dx, y + dy];
        if (u < 0 || u >= 8 || v < 0 || v >= 8) continue;
        if (field[8 * v + u] === 3) n++;
      }
    }
    around[i] = n;
  }),

  '2048, a row to the left': program(16, [integers(64, 0, 4), new Int32Array(16)], (i, board, score) => {
    const row = Array.from({ length: 4 }, (_, k) => board[4 * i + k]);
    const out = [0, 0, 0, 0];
    let [n, last] = [0, 0];
    for (const v of row) {
      if (v === 0) continue;
      if (v === last) {
        out[n - 1]++;
        score[i] += 2 ** (v + 1);
        last = 0;
      } else {
        out[n++] = v;
        last = v;
      }
    }
    out.forEach((v, k) => {
      board[4 * i + k] = v;
    });
  }),

  'a maze walked by the left hand': program(
    4,
    [text('#########......##.#.##.##.#....##......#########'), new Int32Array(4)],
    (i, maze, steps) => {
      const dirs = [
        [0, -1],
        [1, 0],
        [0, 1],
        [-1, 0],
      ] as const;
      let [x, y, d, n] = [1, 1, i, 0];
      const open = (dir: number) => maze[(y + dirs[dir & 3][1]) * 8 + x + dirs[dir & 3][0]] === 46;
      while ((x !== 6 || y !== 4) && n < 100) {
        if (open(d + 3)) d = (d + 3) & 3;
        else if (!open(d)) {
          d = (d + 1) & 3;
          n++;
          continue;
        }
        x += dirs[d][0];
        y += dirs[d][1];
        n++;
      }
      steps[i] = n;
    },
  ),

  'clipping of lines by Cohen and Sutherland': program(
    16,
    [floats(64, -2, 2), new Float32Array(64)],
    (i, from, to) => {
      const code = (x: number, y: number) => (x < -1 ? 1 : x > 1 ? 2 : 0) | (y < -1 ? 4 : y > 1 ? 8 : 0);
      let a = { x: from[4 * i], y: from[4 * i + 1] };
      let b = { x: from[4 * i + 2], y: from[4 * i + 3] };
      for (let round = 0; round < 8; round++) {
        const [ca, cb] = [code(a.x, a.y), code(b.x, b.y)];
        if ((ca | cb) === 0) {
          to.set([a.x, a.y, b.x, b.y], 4 * i);
          return;
        }
        if ((ca & cb) !== 0) return;
        const out = ca || cb;
        const p = { x: 0, y: 0 };
        if (out & 12) {
          p.y = out & 8 ? 1 : -1;
          p.x = a.x + ((b.x - a.x) * (p.y - a.y)) / (b.y - a.y);
        } else {
          p.x = out & 2 ? 1 : -1;
          p.y = a.y + ((b.y - a.y) * (p.x - a.x)) / (b.x - a.x);
        }
        if (out === ca) a = p;
        else b = p;
      }
    },
    1e-4,
  ),

  'a loan paid back, month by month': program(
    6,
    [doubles(6, 1000, 9000), new Float64Array(6), { rate: 0.05, fee: 2.5, months: 36 }],
    (i, loan, paid, { rate, fee, months }) => {
      const monthly = rate / 12;
      const rateOf = (loan[i] * monthly) / (1 - (1 + monthly) ** -months);
      let [left, sum] = [loan[i], 0];
      for (let month = 1; month <= months && left > 0; month++) {
        const interest = Math.round(left * monthly * 100) / 100;
        left -= rateOf - interest;
        sum += rateOf + fee;
      }
      paid[i] = sum + Math.max(left, 0);
    },
  ),

  'yield of a bond, by bisection': program(
    5,
    [doubles(5, 80, 120), new Float64Array(5)],
    (i, price, out) => {
      const value = (y: number, coupon = 4, years = 10) => {
        let v = 0;
        for (let t = 1; t <= years; t++) v += coupon / (1 + y) ** t;
        return v + 100 / (1 + y) ** years;
      };
      let lo = 0;
      let hi = 1;
      while (hi - lo > 1e-9) {
        const mid = (lo + hi) / 2;
        if (value(mid) > price[i]) lo = mid;
        else hi = mid;
      }
      out[i] = lo;
    },
    1e-7,
    'f64',
  ),

  'area and centre of polygons, by reduce': program(3, [doubles(24, -5, 5), new Float64Array(9)], (i, xy, out) => {
    const points = [0, 1, 2, 3].map((k) => ({ x: xy[8 * i + 2 * k], y: xy[8 * i + 2 * k + 1] }));
    const sum = points.reduce<{ area: number; x: number; y: number }>(
      (acc, p, k) => {
        const q = points[(k + 1) % points.length];
        const cross = p.x * q.y - q.x * p.y;
        return { area: acc.area + cross / 2, x: acc.x + (p.x + q.x) * cross, y: acc.y + (p.y + q.y) * cross };
      },
      { area: 0, x: 0, y: 0 },
    );
    out[3 * i] = sum.area;
    out[3 * i + 1] = sum.x;
    out[3 * i + 2] = sum.y;
  }),
};
