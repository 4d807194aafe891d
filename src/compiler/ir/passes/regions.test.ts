import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../required.testing.ts';
import {
  add,
  assign,
  at,
  barrier,
  breakTo,
  eq,
  f32,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  not,
  read,
  ret,
  special,
  store,
  vote,
} from '../builder.ts';
import { printExpr, printStmt } from '../print.ts';
import { outcome, randomSample } from '../testing.ts';
import type { RegionNode } from './region-tree.ts';
import { runRegions } from './regions.testing.ts';
import { formRegions, type Regions } from './regions.ts';
import { lowerReturns } from './returns.ts';
import { eachStmt } from './walk.ts';

/** The tree as text, in the manner of the IR printer. */
function text(r: Regions, nodes: readonly RegionNode[] = r.nodes, indent = ''): string {
  const names = (vars: readonly { name: string }[]): string => vars.map((v) => v.name).join(', ');
  const stmts = (list: readonly Parameters<typeof printStmt>[0][]): string =>
    list.map((s) => `\n${printStmt(s, r.kernel).replace(/^/gm, `${indent}  `)}`).join('');
  const inner = (list: readonly RegionNode[]): string => `\n${text(r, list, `${indent}  `)}`;
  const node = (n: RegionNode): string => {
    switch (n.kind) {
      case 'workItems': {
        const vote = n.reduce
          ? `\n${indent}  reduce ${n.reduce.result.name} = ${n.reduce.fn} ${printExpr(n.reduce.pred, r.kernel)}`
          : '';
        return `items (loads ${names(n.loads)}; saves ${names(n.saves)})${stmts(n.body)}${vote}`;
      }
      case 'once':
        return `once${stmts(n.body)}`;
      case 'if':
        return `if ${printExpr(n.cond, r.kernel)}${inner(n.then)}${n.else.length > 0 ? `\n${indent}else${inner(n.else)}` : ''}`;
      case 'loop':
        return `loop L${n.label}${inner(n.body)}${n.update.length > 0 ? `\n${indent}update${inner(n.update)}` : ''}`;
      case 'block':
        return `block L${n.label}${inner(n.body)}`;
      case 'break':
      case 'continue':
        return `${n.kind} L${n.label}`;
      case 'exitIfNoneLive':
        return `exit if none ${n.live.name}`;
    }
  };
  return nodes.map((n) => indent + node(n)).join('\n');
}

const [tx, ty] = [special('threadIdx.x'), special('threadIdx.y')];

test('tiled matmul: the accumulator is all that is saved, indices are computed again, counters kept once', () => {
  const b = new KernelBuilder('matmul');
  const [x, y, out] = [b.global('f32', 'x'), b.global('f32', 'y'), b.global('f32', 'out')];
  const n = b.value('i32', 'n');
  const [xs, ys] = [b.shared('f32', 'xs', 64), b.shared('f32', 'ys', 64)];
  const [row, col, acc, t, k] = [
    b.variable('i32', 'row'),
    b.variable('i32', 'col'),
    b.variable('f32', 'acc'),
    b.variable('i32', 't'),
    b.variable('i32', 'k'),
  ];
  const [tiles, inner] = [b.label(), b.label()];
  const own = add(mul(ty, i32(8)), tx);
  const kernel = b.build([
    assign(row, add(mul(special('blockIdx.y'), i32(8)), ty)),
    assign(col, add(mul(special('blockIdx.x'), i32(8)), tx)),
    assign(acc, f32(0)),
    assign(t, i32(0)),
    loop(
      tiles,
      [
        ifElse(not(lt(read(t), n)), [breakTo(tiles)]),
        store(at(xs, own), load(at(x, add(mul(read(row), n), add(read(t), tx))))),
        store(at(ys, own), load(at(y, add(mul(add(read(t), ty), n), read(col))))),
        barrier(),
        assign(k, i32(0)),
        loop(
          inner,
          [
            ifElse(not(lt(read(k), i32(8))), [breakTo(inner)]),
            assign(acc, {
              op: 'fma',
              type: 'f32',
              a: load(at(xs, add(mul(ty, i32(8)), read(k)))),
              b: load(at(ys, add(mul(read(k), i32(8)), tx))),
              c: read(acc),
            }),
          ],
          [assign(k, add(read(k), i32(1)))],
        ),
        barrier(),
      ],
      [assign(t, add(read(t), i32(8)))],
    ),
    store(at(out, add(mul(read(row), n), read(col))), read(acc)),
  ]);
  const r = formRegions(lowerReturns(kernel), { block: [8, 8, 1], lanes: 4 });
  expect(`\n${text(r)}\n`).toMatchInlineSnapshot(`
    "
    once
      t = 0
    items (loads ; saves acc)
      row = blockIdx.y * 8 + threadIdx.y
      col = blockIdx.x * 8 + threadIdx.x
      acc = 0f32
    loop L0
      if !(t < n)
        break L0
      items (loads ; saves )
        row = blockIdx.y * 8 + threadIdx.y
        col = blockIdx.x * 8 + threadIdx.x
        xs[threadIdx.y * 8 + threadIdx.x] = x[row * n + (t + threadIdx.x)]
        ys[threadIdx.y * 8 + threadIdx.x] = y[(t + threadIdx.y) * n + col]
      items (loads acc; saves acc)
        k = 0
        loop L1 {
          if !(k < 8) {
            break L1
          }
          acc = fma(xs[threadIdx.y * 8 + k], ys[k * 8 + threadIdx.x], acc)
        } update {
          k = k + 1
        }
    update
      once
        t = t + 8
    items (loads acc; saves )
      row = blockIdx.y * 8 + threadIdx.y
      col = blockIdx.x * 8 + threadIdx.x
      out[row * n + col] = acc
    "
  `);
  expect(r.slots.map((v) => v.name)).toEqual(['acc']);
  expect(r.uniformity.shape(read(col))).toBe('C');
  expect(r.uniformity.shape(read(row))).toBe('U');
});

describe('forms', () => {
  test('votes are reductions over the items; their results and what depends on them are kept once', () => {
    const b = new KernelBuilder('vote');
    const out = b.global('i32', 'out');
    const [many, twice] = [b.variable('i32', 'many'), b.variable('i32', 'twice')];
    const kernel = b.build([
      ifElse(eq(tx, i32(5)), [ret()]),
      vote('count', lt(tx, i32(3)), many),
      ifElse(lt(i32(2), read(many)), [assign(twice, add(read(many), read(many))), barrier()]),
      store(at(out, tx), read(twice)),
    ]);
    expect(`\n${text(formRegions(lowerReturns(kernel)))}\n`).toMatchInlineSnapshot(`
      "
      once
        twice = 0
      items (loads ; saves %live)
        %live = true
        if threadIdx.x == 5 {
          %live = false
        }
        %pred = false
        if %live {
          %pred = threadIdx.x < 3
        }
        reduce many = count %live & %pred
      exit if none %live
      if 2 < many
        once
          twice = many + many
      items (loads %live; saves )
        if %live {
          out[threadIdx.x] = twice
        }
      "
    `);
  });

  test('a uniform value that items assign and read in one region works on copies', () => {
    const b = new KernelBuilder('copies');
    const out = b.global('i32', 'out');
    const n = b.global('i32', 'n');
    const [x, l] = [b.variable('i32', 'x'), b.label()];
    const kernel = b.build([
      assign(x, i32(1)),
      loop(l, [
        store(at(out, tx), read(x)),
        assign(x, add(read(x), load(at(n, i32(0))))),
        store(at(out, add(tx, i32(8))), read(x)),
        barrier(),
        ifElse(lt(i32(9), read(x)), [breakTo(l)]),
      ]),
    ]);
    expect(`\n${text(formRegions(lowerReturns(kernel)))}\n`).toMatchInlineSnapshot(`
      "
      once
        x.0 = 1
      loop L0
        items (loads ; saves )
          x.1 = x.0
          out[threadIdx.x] = x.1
          x.1 = x.1 + n[0]
          out[threadIdx.x + 8] = x.1
          x.2 = x.1
        once
          x.0 = x.2
        if 9 < x.0
          break L0
      "
    `);
  });

  test('local arrays that live across a barrier are needed for each item', () => {
    const b = new KernelBuilder('arrays');
    const [across, within] = [b.local('i32', 'across', 2), b.local('i32', 'within', 2)];
    const out = b.global('i32', 'out');
    const kernel = b.build([
      store(at(across, i32(0)), tx),
      store(at(within, i32(0)), tx),
      store(at(out, tx), load(at(within, i32(0)))),
      barrier(),
      store(at(out, tx), load(at(across, i32(0)))),
    ]);
    expect([...formRegions(lowerReturns(kernel)).perItemArrays].map((a) => a.name)).toEqual(['across']);
  });

  test('without barriers there is one region', () => {
    const b = new KernelBuilder('flat');
    const x = b.variable('i32', 'x');
    const r = formRegions(lowerReturns(b.build([assign(x, tx), ifElse(lt(read(x), i32(2)), [ret()])])));
    expect(r.barriers).toBe(false);
    expect(r.nodes.map((n) => n.kind)).toEqual(['workItems']);
    expect(r.storage.get(x.id)).toEqual({ kind: 'region' });
  });
});

describe('order', () => {
  /** Runs four items as threads and by regions. */
  function same(
    make: (b: KernelBuilder, out: ReturnType<KernelBuilder['global']>) => Parameters<KernelBuilder['build']>[0],
  ): string {
    const b = new KernelBuilder('order');
    const out = b.global('i32', 'out');
    const kernel = b.build(make(b, out));
    const launch = { grid: [1, 1, 1], block: [4, 1, 1] } as const;
    const sample = { name: '', kernel, launch, args: [0], memory: new Uint8Array(32) };
    expect(runRegions(sample, formRegions(lowerReturns(kernel)))).toBe(outcome(sample));
    return outcome(sample);
  }

  test('a cheap value is not computed again where it was not computed yet', () => {
    const result = same((b, out) => {
      const [v, k, l] = [b.variable('i32', 'v'), b.variable('i32', 'k'), b.label()];
      return [
        loop(
          l,
          [
            store(at(out, add(tx, mul(read(k), i32(4)))), read(v)),
            barrier(),
            assign(v, mul(tx, i32(2))),
            ifElse(eq(read(k), i32(1)), [breakTo(l)]),
          ],
          [assign(k, add(read(k), i32(1)))],
        ),
      ];
    });
    expect(result).toBe('[] 0000000000000000000000000000000000000000020000000400000006000000');
  });

  test('an assignment does not move past the vote that reads it', () => {
    same((b, out) => {
      const [g, many] = [b.variable('i32', 'g'), b.variable('i32', 'many')];
      return [
        assign(g, i32(1)),
        barrier(),
        store(at(out, tx), read(g)),
        assign(g, i32(5)),
        vote('count', eq(read(g), i32(5)), many),
        store(at(out, add(tx, i32(4))), add(read(many), read(g))),
      ];
    });
  });
});

test('random kernels do the same region by region', () => {
  let [withBarriers, slots] = [0, 0];
  const cases = randomCases(500);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed, { barriers: true, returns: seed % 3 > 0 });
    const r = formRegions(lowerReturns(sample.kernel), { block: sample.launch.block, lanes: 4 });
    if (r.barriers) withBarriers++;
    slots += r.slots.length;
    const before = outcome(sample);
    const after = runRegions(sample, r);
    if (after !== before)
      expect.fail(
        `${sample.name}:\n${sample.kernel.body.map((s) => printStmt(s, sample.kernel)).join('\n')}\nbecame\n${text(r)}`,
      );
    const seen = new Set<unknown>();
    let all = 0;
    eachStmt(r.kernel.body, (s) => {
      seen.add(s);
      all++;
    });
    expect(seen.size).toBe(all);
  }
  expect(withBarriers).toBeGreaterThan(0.3 * cases);
  expect(slots).toBeGreaterThan(0.4 * cases);
});
