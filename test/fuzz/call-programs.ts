/**
 * Random expressions of calls: functions of integers, of parts and bits of floats, of floats of 16 bits, beside operators and casts, each with the value
 * that its definition gives.
 */
import { ROWS, type Row } from './call-reference.ts';
import type { Ty, Val } from './program.ts';
import { Random } from './random.ts';
import { binary, cast } from './semantics.ts';

export const CALL_TYPES = ['i32', 'u32', 'i64', 'u64', 'f32', 'f64', 'f16', 'bf16'] as const;
export type CallType = (typeof CALL_TYPES)[number];
/** Elements of a thread in each array. */
export const OWN = 4;

/** What a thread has: its elements by type, and variables. */
interface State {
  readonly arrays: Readonly<Record<string, readonly Val[]>>;
  readonly vars: Map<string, Val>;
}

interface Term {
  readonly text: string;
  readonly value: (s: State) => Val;
}

/** A store of a result: `at` of the thread's own in the array of results of the type. */
export interface Result {
  readonly t: CallType;
  readonly at: number;
  readonly value: (s: State) => Val;
}

export interface CallProgram {
  readonly text: string;
  readonly results: readonly Result[];
  /** The functions that are called. */
  readonly rows: readonly Row[];
  /** What a thread begins with. */
  readonly begin: (arrays: State['arrays']) => State;
}

class CallGenerator {
  readonly #r: Random;
  readonly #rows: Row[] = [];
  readonly #vars: { readonly name: string; readonly t: Ty; readonly value: Term['value'] }[] = [];

  constructor(seed: number) {
    this.#r = new Random(seed);
  }

  #leaf(t: Ty): Term {
    const known = this.#vars.filter((v) => v.t === t);
    if (known.length > 0 && this.#r.chance(0.5)) {
      const { name, value } = this.#r.pick(known);
      return { text: name, value };
    }
    const k = this.#r.below(OWN);
    return { text: `${t}s[${OWN} * i + ${k}]`, value: (s) => s.arrays[t]?.[k] ?? 0 };
  }

  #call(of: Row, depth: number): Term {
    this.#rows.push(of);
    const args = of.of.map((t) => this.#term(t, this.#r.below(depth)));
    return {
      text: of.text.replace(/\$(\d)/g, (_, n: string) => args[Number(n) - 1]?.text ?? ''),
      value: (s) => of.value(...args.map((a) => a.value(s))),
    };
  }

  #term(t: Ty, depth: number): Term {
    const r = this.#r;
    if (depth === 0) return this.#leaf(t);
    if (r.chance(0.65)) return this.#call(r.pick(ROWS.filter((of) => of.to === t)), depth);
    if (r.chance(0.4)) {
      const from = r.pick(CALL_TYPES);
      const a = this.#term(from, depth - 1);
      return { text: `${t}(${a.text})`, value: (s) => cast(from, t, a.value(s)) };
    }
    const integer = !t.includes('f');
    const op = r.pick(
      integer ? (['add', 'sub', 'mul', 'and', 'or', 'xor'] as const) : (['add', 'sub', 'mul', 'div'] as const),
    );
    const sign = { add: '+', sub: '-', mul: '*', and: '&', or: '|', xor: '^', div: '/' }[op];
    const [a, b] = [this.#term(t, depth - 1), this.#term(t, 0)];
    return { text: `(${a.text} ${sign} ${b.text})`, value: (s) => binary(op, t, a.value(s), b.value(s)) };
  }

  program(): CallProgram {
    const r = this.#r;
    const lines: string[] = [];
    const results: Result[] = [];
    const places = new Map<CallType, number>();
    for (let k = 0; k < 10; k++) {
      const t = r.pick(CALL_TYPES);
      const term = this.#term(t, 2);
      if (r.chance(0.3)) {
        const name = `v${k}`;
        lines.push(`const ${name} = ${term.text};`);
        this.#vars.push({ name, t, value: term.value });
      }
      const at = places.get(t) ?? 0;
      if (at === OWN) continue;
      places.set(t, at + 1);
      const name = this.#vars.at(-1)?.name === `v${k}` ? `v${k}` : term.text;
      lines.push(`${t}o[${OWN} * i + ${at}] = ${name};`);
      results.push({ t, at, value: term.value });
    }
    return { text: lines.join('\n'), results, rows: this.#rows, begin: (arrays) => ({ arrays, vars: new Map() }) };
  }
}

/** The program of a seed: it reads `i32s`, `f16s` and so on, and stores to `i32o`, `f16o`, four elements a thread `i`. */
export function generateCalls(seed: number): CallProgram {
  return new CallGenerator(seed).program();
}
