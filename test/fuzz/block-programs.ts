/**
 * Random programs of blocks whose threads meet: at barriers, in loops that a shared flag ends, in votes, reductions, scans, sorts, exchanges and histograms. The text is JavaScript with
 * `«cuda.syncThreads()»` around each meeting: `block-reference.ts` runs it with a generator a thread. A barrier may be missing; then the program is
 * refused, or it makes no difference.
 */
import { Random } from './random.ts';

const BLOCKS: readonly (readonly [number, number])[] = [
  [1, 1],
  [3, 1],
  [32, 1],
  [33, 1],
  [40, 1],
  [64, 1],
  [8, 4],
  [5, 9],
];
/** Elements of each of the shared arrays `m0` and `m1`. */
export const SHARED = 4;

/** Associative operators of numbers below 64, most of them not commutative. */
const OPERATORS: readonly string[] = [
  '(a, b) => (a + b) & 63',
  '(a, b) => a ^ b',
  '(a, b) => Math.min(a, b)',
  '(a, b) => Math.max(a, b)',
  '(a, b) => (b > 7 ? b : a)',
  '(a, b) => (a > 7 ? a : b)',
];

/** Values of two numbers: how one is made, its members, and what two come to, one map of a line after another. */
const PAIRS: readonly (readonly [make: string, x: string, y: string])[] = [
  ['i32x2', 'x', 'y'],
  ['f64x2', 'x', 'y'],
  ['c64', 're', 'im'],
];

export interface BlockProgram {
  readonly text: string;
  readonly block: readonly [number, number];
  readonly grid: number;
  /** Threads from here on return at once, if any. */
  readonly limit: number;
}

interface Where {
  readonly names: readonly string[];
  /** What is the same for all threads. */
  readonly same: readonly string[];
  readonly depth: number;
}

class BlockGenerator {
  readonly #r: Random;
  readonly #returns: boolean;
  /** Now and then a barrier is left out. */
  readonly #careless: boolean;
  #names = 0;
  /** Reductions and scans are much code. */
  #collectives: number;

  constructor(seed: number) {
    this.#r = new Random(seed);
    this.#returns = this.#r.chance(0.25);
    this.#careless = this.#r.chance(0.5);
    // Half of the programs are of flags alone.
    this.#collectives = seed % 2 === 0 ? 3 : 0;
  }

  #flag(): string {
    return `${this.#r.pick(['m0', 'm1'])}[${this.#r.below(SHARED)}]`;
  }

  /** A small number of the thread. */
  #number(w: Where, depth = 1): string {
    const r = this.#r;
    if (depth === 0) return r.chance(0.3) ? String(r.below(9)) : r.pick(w.names);
    const [a, b] = [this.#number(w, depth - 1), this.#number(w, depth - 1)];
    return r.pick([`((${a} ${r.pick(['+', '*', '^', '-'])} ${b}) & 63)`, `(${a} < ${b} ? ${a} : ${r.below(64)})`, a]);
  }

  /** What is the same for all threads, as far as barriers stand where they must. */
  #uniform(w: Where): string {
    const r = this.#r;
    const of = (): string => (r.chance(0.6) ? this.#flag() : r.pick(w.same));
    const test = r.pick([`${of()} > ${r.below(5)}`, `(${of()} & 1) === 0`, `${of()} !== ${of()}`]);
    return r.chance(0.2) ? `${test} && ${of()} < ${20 + r.below(40)}` : test;
  }

  #barrier(): string {
    return this.#careless && this.#r.chance(0.3) ? '' : '«cuda.syncThreads()»;\n';
  }

  /** A store to a flag by one thread, between barriers. */
  #set(w: Where): string {
    const r = this.#r;
    const flag = this.#flag();
    const value = r.pick([this.#number(w), `${flag} - 1`, `(${flag} * 3 + ${r.below(9)}) & 31`]);
    const by = this.#returns ? 't === 0' : r.pick(['t === 0', 't === count - 1', `t === ${r.below(3)}`]);
    return `${this.#barrier()}if (${by}) ${flag} = ${value};\n${this.#barrier()}`;
  }

  #meeting(w: Where): string {
    const r = this.#r;
    const value = this.#number(w);
    if (this.#returns || r.chance(0.3) || this.#collectives++ > 2) {
      const test = `${value} > ${r.below(40)}`;
      const vote = `cuda.syncThreads${r.pick(['Count', 'And', 'Or'])}(${test})`;
      return vote.includes('Count') ? `«${vote}»` : `(«${vote}» ? 1 : 0)`;
    }
    if (r.chance(0.5)) return r.chance(0.5) ? this.#sorted(w) : this.#moved(w);
    const group = r.pick(['block', 'block', 'warp']);
    const form = r.pick(['reduce', 'inclusiveScan', 'exclusiveScan']);
    if (r.chance(0.7)) {
      const last = form === 'exclusiveScan' ? `, ${r.below(9)}` : '';
      return `«cuda.${group}.${form}(${value}, ${r.pick(OPERATORS)}${last})»`;
    }
    const [make, x, y] = r.pick(PAIRS);
    const first = `${make}(${this.#number(w, 0)} & 7, ${value})`;
    const op = `(a, b) => ${make}(whole(a.${x} * b.${x}) & 63, whole(a.${y} * b.${x} + b.${y}) & 63)`;
    const last = form === 'exclusiveScan' ? `, ${make}(${r.below(4)}, ${r.below(9)})` : '';
    return `whole(«cuda.${group}.${form}(${first}, ${op}${last})».${r.pick([x, y])})`;
  }

  /** One to four items of a thread, and one of as many by its number. */
  #items(w: Where): readonly [text: string, part: string] {
    const r = this.#r;
    const n = r.pick([1, 2, 3, 4]);
    if (n === 1 && r.chance(0.7)) return [this.#number(w), ''];
    return [`[${Array.from({ length: n }, () => this.#number(w)).join(', ')}]`, `[${r.below(n)}]`];
  }

  /** A sort of the block or of its warps, whole or by keys. */
  #sorted(w: Where): string {
    const r = this.#r;
    const group = r.pick(['block', 'block', 'warp']);
    const [items, part] = this.#items(w);
    const order = r.pick([
      '',
      ', { descending: true }',
      ', { key: (a) => a & 7 }',
      ', { compare: (a, b) => (b >> 2) - (a >> 2) }',
    ]);
    if (r.chance(0.6)) return `«cuda.${group}.sort(${items}${order})»${part}`;
    const count = items.startsWith('[') ? items.split(',').length : 0;
    const values = count === 0 ? 't' : `[${Array.from({ length: count }, (_, k) => `t * ${count} + ${k}`).join(', ')}]`;
    return `(«cuda.${group}.sortByKey(${items}, ${values}${order})».${r.pick(['keys', 'values'])}${part} & 1023)`;
  }

  /** Items that change threads, come from memory, or are counted. */
  #moved(w: Where): string {
    const r = this.#r;
    const [items, part] = this.#items(w);
    const way = (): string => r.pick(['blocked', 'striped', 'warpStriped']);
    switch (r.below(4)) {
      case 0:
        return `«cuda.block.exchange(${part === '' ? `[${items}]` : items}, { from: '${way()}', to: '${way()}' })»${part === '' ? '[0]' : part}`;
      case 1:
        return `«cuda.block.exchange(${this.#number(w)}, { ranks: ${r.pick(['count - 1 - t', `(t + ${r.below(5)}) % count`])} })»`;
      case 2: {
        const n = 1 + r.below(3);
        const arrangement = r.chance(0.8) ? `, arrangement: '${r.pick(['transposed', 'transposed', way()])}'` : '';
        return `«cuda.block.load(x, ${r.below(9)}, ${n}, { otherwise: ${r.below(64)}${arrangement} })»[${r.below(n)}]`;
      }
      default: {
        const bins = r.pick([3, 8, 64]);
        const counted = items.replaceAll(/^[^[].*$/gs, (one) => `((${one}) % ${bins})`);
        const all = counted.startsWith('[')
          ? `[${counted
              .slice(1, -1)
              .split(', ')
              .map(() => `(${this.#number(w)} % ${bins})`)
              .join(', ')}]`
          : counted;
        return `«cuda.block.histogram(${all}, ${bins})»[${r.chance(0.5) ? String(r.below(bins)) : `${this.#number(w)} % ${bins}`}]`;
      }
    }
  }

  /** Items that are stored to a shared array, as far as it goes, between barriers. */
  #storing(w: Where): string {
    const r = this.#r;
    const [items] = this.#items(w);
    const arrangement = r.chance(0.5)
      ? `, { arrangement: '${r.pick(['transposed', 'striped', 'warpStriped', 'blocked'])}' }`
      : '';
    return `«cuda.syncThreads()»;\n«cuda.block.store(${r.pick(['m0', 'm1'])}, ${r.below(3)}, ${items}${arrangement})»;\n«cuda.syncThreads()»;`;
  }

  #statement(w: Where): string {
    const r = this.#r;
    const deeper: Where = { ...w, depth: w.depth - 1 };
    switch (r.below(w.depth === 0 ? 6 : 10)) {
      case 0:
      case 1:
        return this.#set(w);
      case 2:
        return `s = (s * 3 + ${this.#number(w)}) & 1023;`;
      case 3:
        return `s = (s + ${this.#flag()}) & 1023;`;
      case 4:
        if (!this.#returns && this.#collectives <= 2 && r.chance(0.3)) return this.#storing(w);
        return `s = (s * 5 + ${this.#meeting(w)}) & 1023;`;
      case 5:
        return `s = (s * 5 + ${this.#meeting(w)}) & 1023;`;
      case 6:
        return `if (${this.#uniform(w)}) {\n${this.#list(deeper)}\n} else {\n${this.#list(deeper)}\n}`;
      case 7: {
        const own = `s = (s + ${this.#number(w)}) & 1023;`;
        return `if (${this.#number(w)} > ${r.below(40)}) {\n${own}\n} else {\n${own}\n}`;
      }
      default:
        return this.#loop(w);
    }
  }

  /** A loop of few rounds, which a flag may end. */
  #loop(w: Where): string {
    const r = this.#r;
    const j = `j${this.#names++}`;
    const inner: Where = { names: [...w.names, j], same: [...w.same, j], depth: w.depth - 1 };
    const rounds = r.pick(['3', '(n & 3)', '2']);
    const jump = r.chance(0.3) ? `if (${this.#uniform(inner)}) ${r.pick(['break', 'continue'])};\n` : '';
    const body = `${this.#list(inner)}\n${jump}${r.chance(0.5) ? this.#list(inner) : ''}`;
    const test = r.chance(0.7) ? `${j} < ${rounds} && ${this.#uniform(inner)}` : `${j} < ${rounds}`;
    if (r.chance(0.6)) return `for (let ${j} = 0; ${test}; ${j}++) {\n${body}\n}`;
    return `let ${j} = 0;\ndo {\n${j}++;\n${body}\n} while (${test});`;
  }

  #list(w: Where): string {
    return Array.from({ length: 1 + this.#r.below(2) }, () => this.#statement(w)).join('\n');
  }

  program(): BlockProgram {
    const r = this.#r;
    const block = r.pick(BLOCKS);
    const count = block[0] * block[1];
    const w: Where = { names: ['v', 's', 't'], same: ['n', 'n'], depth: 2 };
    const start = `if (t < 1) for (let k = 0; k < ${SHARED}; k++) {\nm0[k] = (n + 3 * k) & 15;\nm1[k] = (7 * n + k) & 15;\n}\n«cuda.syncThreads()»;\nlet s = v;`;
    const body = Array.from({ length: 3 + r.below(4) }, () => this.#statement(w)).join('\n');
    return {
      text: `${start}\n${body}`,
      block,
      grid: 1 + r.below(2),
      limit: this.#returns && count > 2 ? count - 1 - r.below(count / 2) : count,
    };
  }
}

/** The program of a seed: of the thread `t` of `count` in its block, with a number `v` of its own and `n` of all; it leaves `s`. */
export function generateBlocks(seed: number): BlockProgram {
  return new BlockGenerator(seed).program();
}
