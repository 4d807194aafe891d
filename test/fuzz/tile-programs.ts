/**
 * Random blocks that turn a part of a matrix around in a tile: written along rows or columns, read along rows or columns, stored along either. `tileOnHost` says what comes out.
 */
import { Random } from './random.ts';

export interface TileProgram {
  readonly text: string;
  readonly elem: 'f32' | 'i32' | 'u32';
  readonly block: readonly [number, number];
  readonly grid: number;
  /** Elements of a block. */
  readonly size: number;
  /** What is done by element `k` of a block: where it is put, what is read there, where that is stored, and what is added. */
  readonly put: (row: number, x: number) => number;
  readonly get: (row: number, x: number) => number;
  readonly out: (row: number, x: number) => number;
  readonly more: (row: number, x: number) => number;
  readonly height: number;
  readonly cells: number;
}

const BLOCKS: TileProgram['block'][] = [
  [8, 4],
  [16, 16],
  [32, 8],
  [16, 6],
  [8, 3],
  [12, 4],
  [8, 5],
  [6, 4],
  [64, 2],
];

export function generateTile(seed: number): TileProgram {
  const r = new Random(seed);
  const [w, h] = r.pick(BLOCKS);
  const rounds = 1 + r.below(3);
  const height = h * rounds;
  const [put, get] = [r.chance(0.5), r.chance(0.5)];
  const out = r.chance(0.4);
  // Elements between the rows are written by nobody.
  const pad = put === get ? r.below(2) : 0;
  const place = (along: boolean, gap: number) => (row: number, x: number) =>
    along ? x * (height + gap) + row : row * (w + gap) + x;
  const text = (along: boolean, gap: number): string => (along ? `x * ${height + gap} + row` : `row * ${w + gap} + x`);
  const [most, add] = r.pick([
    ['', () => 0],
    [' + row', (row: number) => row],
    [' + 2 * x', (_: number, x: number) => 2 * x],
  ] as const);
  const elem = r.pick(['f32', 'f32', 'i32', 'u32'] as const);
  const loop = (body: string): string => `for (let k = 0; k < ${height}; k += ${h}) { const row = y + k; ${body} }`;
  const value = `tile[${text(get, pad)}]`;
  const store = (v: string): string => `o[first + ${text(out, 0)}] = ${v}${most};`;
  const size = w * height;
  const cells = Math.max(w * (height + pad), height * (w + pad));
  return {
    text: [
      `const tile = cuda.shared.array(${cells}, ${elem});`,
      'const { x, y } = cuda.threadIdx;',
      `const first = cuda.blockIdx.x * ${size};`,
      loop(`tile[${text(put, pad)}] = a[first + row * ${w} + x];`),
      'cuda.syncThreads();',
      loop(r.chance(0.5) ? store(value) : `const v = ${value}; ${store('v')}`),
    ].join('\n'),
    elem,
    block: [w, h],
    grid: 30 + r.below(30),
    size,
    put: place(put, pad),
    get: place(get, pad),
    out: place(out, 0),
    more: add,
    height,
    cells,
  };
}

/** What a program makes of integers. */
export function tileOnHost(p: TileProgram, a: readonly number[]): number[] {
  const result = a.map(() => 0);
  const each = (visit: (row: number, x: number) => void): void => {
    for (let row = 0; row < p.height; row++) for (let x = 0; x < p.block[0]; x++) visit(row, x);
  };
  for (let first = 0; first < a.length; first += p.size) {
    const tile = new Array<number>(p.cells).fill(0);
    each((row, x) => {
      tile[p.put(row, x)] = a[first + row * p.block[0] + x] as number;
    });
    each((row, x) => {
      result[first + p.out(row, x)] = (tile[p.get(row, x)] as number) + p.more(row, x);
    });
  }
  return result;
}
