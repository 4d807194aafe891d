/**
 * Values that may be undefined or null: what a kernel computes with them is compared with the same JavaScript on the host, and
 * uses of what may not be there are refused.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { u32 } from '../dtype/index.ts';
import { run } from './testing.ts';

type V = { [k: number]: number; length: number };

const X = [3, -1, 0, 7, -4, 0, 12, 5];

/** Runs a kernel on a device's model and on the host. */
function sameAsHost(body: (x: V, y: V) => void, elements: 'i32' | 'f64' = 'i32'): void {
  const make = elements === 'i32' ? Int32Array : Float64Array;
  const [y, want] = [new make(X.length), new make(X.length)];
  run(body as (...args: never[]) => void, [make.from(X), y]);
  body(make.from(X), want);
  expect(y).toEqual(want);
}

function refused(body: (x: V, y: V) => void, message: RegExp): void {
  expect(() => run(body as (...args: never[]) => void, [Int32Array.from(X), new Int32Array(X.length)])).toThrow(
    message,
  );
}

/** The first index from `from` on whose element is above `limit`; nothing if there is none. */
// @ts-expect-error TS7030: the end of these functions is what is tested
function find(x: V, from: number, limit: number): number | undefined {
  for (let k = from; k < x.length; k++) if ((x[k] as number) > limit) return k;
}

// @ts-expect-error TS7030: the end of these functions is what is tested
function classify(v: number): number | undefined {
  switch (v) {
    case 0:
      return 10;
    case 3:
      return undefined;
    case 7:
      return 20;
  }
}

describe('functions that return a value on some paths', () => {
  it('tests of every spelling', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const at = find(x, k, 6);
        let r = 0;
        if (at === undefined) r += 1;
        if (at !== undefined) r += 2;
        if (at == null) r += 4;
        if (at != null) r += 8 * at;
        if (void 0 === at) r += 100;
        if (typeof at === 'undefined') r += 1000;
        if (!at) r += 10000;
        y[k] = r;
      }
    });
  });

  it('?? and ?: and && and ||', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const at = find(x, k, 6);
        const a = at ?? -1;
        const b = at !== undefined ? at + 1 : -2;
        const c = at !== undefined && at > 4 ? 1 : 0;
        const d = at === undefined || at < 4 ? 1 : 0;
        const e = at || 50;
        y[k] = a + 10 * b + 100 * c + 1000 * d + 10000 * e + ((at && at + 1) ?? 5);
      }
    });
  });

  it('narrowing by early exits', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const at = find(x, k, 6);
        y[k] = -5;
        if (at === undefined) continue;
        y[k] = at;
      }
    });
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const at = find(x, k, 6);
        if (at == null) {
          y[k] = -1;
          break;
        }
        y[k] = at * 2;
      }
    });
  });

  it('narrowing by loops and by constants that hold a test', () => {
    sameAsHost((x, y) => {
      let at = find(x, 0, 2);
      let n = 0;
      while (at !== undefined) {
        y[n++] = at;
        at = find(x, at + 1, 2);
      }
      const found = at !== undefined;
      if (found) y[7] = at as unknown as number;
      const none = at === undefined;
      y[6] = none ? 9 : (at as unknown as number);
    });
  });

  it('switch without default, and bare returns', () => {
    sameAsHost((x, y) => {
      const halve = (v: number): number | undefined => {
        if (v < 0) return;
        if (v === 0) return void 0;
        return v * 2;
      };
      for (let k = 0; k < x.length; k++) y[k] = (classify(x[k] as number) ?? -1) + (halve(x[k] as number) ?? 1000);
    });
  });

  it('results that are passed on, returned, and parameters with defaults', () => {
    sameAsHost((x, y) => {
      const next = (from: number | undefined): number | undefined =>
        from === undefined ? undefined : find(x, from + 1, 4);
      const value = (at: number | undefined, otherwise = -7): number =>
        at === undefined ? otherwise : (x[at] as number);
      const plus = (a: number, b?: number): number => a + (b ?? 100);
      const preset = (a = 5): number => a * 3;
      for (let k = 0; k < x.length; k++) {
        const at = next(find(x, k, 4));
        y[k] = value(at) + plus(1, at) + plus(2) + preset(at) * 1000 + value(undefined, undefined);
      }
    });
  });

  it('equality with what is there', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const at = find(x, k, 6);
        y[k] = (at === 3 ? 1 : 0) + (at !== 3 ? 10 : 0) + (at === 6 ? 100 : 0);
      }
    });
  });

  it('a result on every path needs no flag', () => {
    const { compiled } = run(
      (x: V, y: V) => {
        const sign = (v: number): number => {
          if (v < 0) return -1;
          else if (v > 0) return 1;
          return 0;
        };
        const kind = (v: number): number => {
          switch (v) {
            case 0:
              return 1;
            default:
              return 2;
          }
        };
        for (let k = 0; k < x.length; k++) y[k] = sign(x[k] as number) + kind(x[k] as number);
      },
      [Int32Array.from(X), new Int32Array(X.length)],
    );
    expect(compiled.kernel.vars.filter((v) => v.type === 'bool')).toEqual([]);
  });
});

describe('variables without a value', () => {
  it('let in a loop is fresh in every round, var is not', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        let c: number | undefined;
        var d: number | undefined;
        if ((x[k] as number) > 4) {
          c = x[k];
          d = x[k];
        }
        y[k] = (c ?? -1) + 100 * (d ?? -1);
      }
    });
  });

  it('what transpilers make of let in a loop', () => {
    sameAsHost((x, y) => {
      for (var k = 0; k < x.length; k++) {
        var c = void 0 as number | undefined;
        if ((x[k] as number) > 4) c = x[k];
        var t: number | undefined;
        y[k] = (t = c) !== null && t !== void 0 ? t : -1;
      }
    });
  });

  it('the best so far', () => {
    sameAsHost((x, y) => {
      let best: number | undefined;
      for (let k = 0; k < x.length; k++) {
        const v = x[k] as number;
        if (best === undefined || v > best) best = v;
        y[k] = best;
      }
    });
    sameAsHost((x, y) => {
      let best: number | null = null;
      for (let k = 0; k < x.length; k++) {
        if ((x[k] as number) < 0) best = null;
        else if (best === null || (x[k] as number) > best) best = x[k] as number;
        y[k] = best ?? -1;
      }
    });
  });

  it('undefined or null at first, and given a value on one path', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        var a: number | null = null;
        let b: number | undefined;
        b = undefined;
        if ((x[k] as number) > 3) {
          a = x[k] as number;
          b = k;
        }
        y[k] = (a ?? -1) + 100 * (b ?? -1);
      }
    });
  });

  it('of objects', () => {
    sameAsHost((x, y) => {
      let best: { v: number; at: number } | undefined;
      for (let k = 0; k < x.length; k++) {
        const v = x[k] as number;
        if (best === undefined || v > best.v) best = { v, at: k };
        y[k] = best.at + 10 * best.v;
      }
    });
    sameAsHost((x, y) => {
      const pick = (k: number): { v: number } | undefined => ((x[k] as number) > 2 ? { v: x[k] as number } : undefined);
      for (let k = 0; k < x.length; k++) {
        const p = pick(k);
        y[k] = (p?.v ?? -1) + (pick(k)?.v ?? 100);
      }
    });
  });

  it('a condition that is named, twice', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const large = (x[k] as number) > 4;
        let v: number | undefined;
        if (large) v = x[k] as number;
        y[k] = 1;
        if (large) y[k] = v as number;
      }
    });
  });

  it('a flag of one’s own', () => {
    sameAsHost((x, y) => {
      let seen = false;
      let best: number | undefined;
      for (let k = 0; k < x.length; k++) {
        if (!seen || (x[k] as number) > (best as number)) {
          best = x[k] as number;
          seen = true;
        }
        y[k] = best as number;
      }
    });
  });

  it('assigned on every path in every way', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const v = x[k] as number;
        let a: number;
        if (v > 0) a = 1;
        else if (v < 0) a = 2;
        else a = 3;
        let b: number;
        switch (v) {
          case 0:
            b = 1;
            break;
          case 3:
            b = 2;
          default:
            b = 4;
        }
        let c: number;
        do {
          c = a + b;
        } while (c < 0);
        let d: number;
        for (let j = 0; j < 3; j++) d = j + v;
        let e: number;
        while (true) {
          e = 7;
          if (e > 3) break;
        }
        let f: number;
        if (v > 3) f = 1;
        else continue;
        y[k] = a + 10 * b + 100 * c + 1000 * d! + e + f;
      }
    });
  });

  it('??= and ||= and &&=', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        let a = find(x, k, 6);
        a ??= 50;
        let b = find(x, k, 6);
        b ||= 60;
        let c = find(x, k, 6);
        c &&= 70;
        y[k] = a + 100 * b + 10000 * (c ?? 1);
      }
    });
  });

  it('a value that is taken away again', () => {
    sameAsHost((x, y) => {
      let last: number | undefined = x[0];
      for (let k = 0; k < x.length; k++) {
        if (last === undefined) y[k] = -9;
        else y[k] = last;
        last = (x[k] as number) > 0 ? x[k] : undefined;
      }
    });
  });

  it('null and undefined, told apart', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const a = (x[k] as number) > 2 ? (x[k] as number) : null;
        const b = (x[k] as number) > 2 ? (x[k] as number) : undefined;
        y[k] =
          ((a as unknown) === undefined ? 1 : 0) +
          (a === null ? 10 : 0) +
          ((b as unknown) === null ? 100 : 0) +
          (b === undefined ? 1000 : 0);
      }
    });
  });

  it('NaN and 0 are falsy, too', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        const v = x[k] as number;
        const r = v > 4 ? undefined : v < 0 ? Number.NaN : v;
        y[k] = r ? 1 : 2;
        if (!r) y[k] = (y[k] as number) + 10;
      }
    }, 'f64');
  });
});

describe('uses of what may not be there', () => {
  it('says where there is none', () => {
    refused((_x, y) => {
      const v: number | null = null;
      y[0] = (v as unknown as number) + 1;
    }, /K319: v has no value here: v is null/);
    refused((x, y) => {
      const at = find(x, 0, 6);
      y[0] = (at as number) + 1;
    }, /K319: at may have no value here: find\(\) returns nothing when this loop ends without a return \(line \d+\)/);
    refused((x, y) => {
      let v: number;
      if ((x[0] as number) > 0) v = 1;
      y[0] = v!;
    }, /K319: v may have no value here: v is declared without a value/);
    refused((x, y) => {
      let v: number;
      for (let k = 0; k < x.length; k++) v = x[k] as number;
      y[0] = v!;
    }, /K319: v may have no value/);
    refused((x, y) => {
      y[0] = classify(x[0] as number) as number;
    }, /K319: this may have no value here: classify\(\) returns/);
    refused((_x, y) => {
      const f = (a: number, b?: number): number => a + (b as number);
      y[0] = f(1);
    }, /K319: b has no value here: the parameter b of f gets no argument/);
    refused((x, y) => {
      for (let k = 0; k < x.length; k++) {
        let c: number;
        if (k > 0) y[k] = c!;
        c = x[k] as number;
      }
    }, /K319: c has no value here/);
    refused((x, y) => {
      const v = (x[0] as number) > 1 ? x[0] : (x[1] as number) > 1 ? null : undefined;
      y[0] = v === null ? 1 : 0;
    }, /K320/);
  });

  it('whatever stands between', () => {
    const nowhere = /K319: \w+ (?:may have|has) no value here/;
    // A copy does not know what was assigned since.
    refused((x, y) => {
      let a: number | undefined;
      if ((x[0] as number) > 0) a = 1;
      const c = a;
      if ((x[1] as number) > 0) a = 5;
      else a = undefined;
      if (a !== undefined) y[0] = c as number;
    }, nowhere);
    // What has been given a value may lose it again, also in an earlier round.
    refused((x, y) => {
      let a: number | undefined;
      if ((x[0] as number) > 0) a = 1;
      a = 3;
      if ((x[1] as number) > 0) a = undefined;
      y[0] = a as number;
    }, nowhere);
    refused((x, y) => {
      let a: number | undefined;
      if ((x[0] as number) > 0) a = 5;
      a = 1;
      for (let k = 0; k < x.length; k++) {
        y[k] = (a as number) + 1;
        if ((x[k] as number) > 0) a = undefined;
      }
    }, nowhere);
    refused((x, y) => {
      const f = (v: number): number => {
        let e: number;
        return (v > 0 && (e = 1), e! + 1);
      };
      y[0] = f(x[0] as number);
    }, nowhere);
    refused((x, y) => {
      let e: number;
      (x[0] as number) > 0 && (e = 1), (y[1] = 2);
      y[0] = e!;
    }, nowhere);
    refused((x, y) => {
      // @ts-expect-error TS7030: the end of the function is what is tested
      const f = (v: number): number | undefined => {
        if (v > 3) return 1;
        else y[1] = 2;
      };
      y[0] = f(x[0] as number) as number;
    }, nowhere);
    refused((x, y) => {
      let v: number;
      switch (x[0]) {
        case 0:
          v = 1;
          break;
        case 1:
          v = 2;
          break;
      }
      y[0] = v!;
    }, nowhere);
    refused((x, y) => {
      let v: number;
      let j: number;
      for (j = 0, (x[0] as number) > 0 && (j = 9); j < 3; j++) v = j;
      y[0] = v!;
    }, nowhere);
  });
});

describe('a variable that is assigned what depends on whether it has a value', () => {
  it('is asked before it has the new one', () => {
    sameAsHost((x, y) => {
      for (let k = 0; k < x.length; k++) {
        let v: number | undefined;
        if ((x[k] as number) > 0) v = x[k];
        if ((x[k] as number) > 5) v = undefined;
        v = v === undefined ? 1 : 2;
        let w: number | undefined = (x[k] as number) > 0 ? 70 : undefined;
        if ((x[k] as number) > 5) w = undefined;
        w ??= !w ? 3 : 5;
        y[k] = v + 10 * w;
      }
    });
  });

  it('may be used in what it is assigned only where it has one', () => {
    refused((x, y) => {
      let v: number | undefined;
      if ((x[0] as number) > 9) v = 1;
      v = (v as number) + 1;
      y[0] = v;
    }, /may have no value here/);
  });
});

describe('arms of a selection that are never taken', () => {
  it('have no say in its type', () => {
    const body = (x: V, y: V): void => {
      let v: number | undefined;
      for (let k = 0; k < x.length; k++) {
        let w = v;
        w ??= !w ? u32(k) : cuda.rint((w as number) / 32768);
        y[k] = w;
      }
      v = undefined;
    };
    const y = new Uint32Array(X.length);
    run(body as (...args: never[]) => void, [Int32Array.from(X), y]);
    expect([...y]).toEqual([...X.keys()]);
  });
});
