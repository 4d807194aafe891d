/**
 * For tests: a program that runs a set of samples on PoCL and prints, as JSON, what differs. PoCL compiles inside of the process, and
 * what it does to one must not end the tests.
 *
 *   node --import tsx differences.testing.ts <set> [first] [count]
 *
 * Of `operators`, every count-th is taken.
 */
import * as ir from '../../compiler/ir/builder.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { randomSample, type Sample } from '../../compiler/ir/testing.ts';
import { operatorSamples } from '../../compiler/render/ptx/operators.testing.ts';
import { INPUT, ROW, randomKernel } from '../../compiler/render/wasm/programs.testing.ts';
import { difference, Pocl } from './pocl.testing.ts';

const [set = '', first = '0', count = '1'] = process.argv.slice(2);

/** Loops and jumps of every kind. */
function program(seed: number, checked: boolean): Sample {
  const threads = 16;
  const kernel: Kernel = { ...randomKernel(seed, { barriers: seed % 2 === 0, wide: true, threads }), checked };
  const words = 2 * threads * ROW;
  const memory = new Uint8Array(4 * (words + INPUT));
  new Int32Array(memory.buffer).set(
    Array.from({ length: INPUT }, (_, i) => ((i * 7919) % 100) - 30),
    words,
  );
  const launch = { grid: [2, 1, 1], block: [threads, 1, 1] } as const;
  return { name: `program ${seed}`, kernel, launch, args: [0, words * 4, seed % 9, INPUT, words], memory };
}

/** All work items leave a block between two barriers, or a way through an `if` with one, or go on to the next round; or none does. */
function meeting(leaves: boolean): Sample {
  const b = new ir.KernelBuilder('meeting');
  const [out, s] = [b.global('i32', 'out'), b.shared('i32', 's', 30)];
  const [n, v, k] = [b.value('i32', 'n'), b.variable('i32', 'v'), b.variable('i32', 'k')];
  const [label, rounds] = [b.label(), b.label()];
  const t = ir.special('threadIdx.x');
  const other = ir.load(ir.at(s, ir.sub(ir.i32(29), t)));
  const odd = ir.lt(n, ir.i32(1));
  const body = [
    ir.assign(v, ir.i32(0)),
    ir.block(label, [
      ir.store(ir.at(s, t), t),
      ir.barrier(),
      ir.assign(v, other),
      ir.ifElse(odd, [ir.breakTo(label)]),
      ir.store(ir.at(out, t), ir.mul(t, ir.i32(3))),
      ir.fence('device'),
      ir.fence('system'),
      ir.fence('block'),
      ir.barrier(),
      ir.store(ir.at(s, t), ir.read(v)),
    ]),
    ir.ifElse(
      odd,
      [ir.assign(v, ir.add(ir.read(v), ir.i32(5)))],
      [ir.store(ir.at(s, t), ir.mul(t, t)), ir.barrier(), ir.assign(v, other)],
    ),
    ir.assign(k, ir.i32(0)),
    ir.loop(
      rounds,
      [
        ir.ifElse(ir.ge(ir.read(k), ir.i32(3)), [ir.breakTo(rounds)]),
        ir.barrier(),
        ir.store(ir.at(s, t), ir.add(ir.read(v), ir.read(k))),
        ir.barrier(),
        ir.ifElse(ir.eq(ir.read(k), n), [ir.continueTo(rounds)]),
        ir.assign(v, ir.add(ir.read(v), other)),
        ir.barrier(),
      ],
      [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
    ),
    ir.store(ir.at(out, ir.add(t, ir.i32(30))), ir.read(v)),
  ];
  const launch = { grid: [1, 1, 1], block: [30, 1, 1] } as const;
  return {
    name: `meeting ${leaves}`,
    kernel: b.build(body),
    launch,
    args: [0, leaves ? 0 : 1],
    memory: new Uint8Array(240),
  };
}

function samples(): readonly Sample[] {
  const [from, n] = [Number(first), Number(count)];
  const several = (make: (seed: number) => Sample): Sample[] => Array.from({ length: n }, (_, k) => make(from + k));
  switch (set) {
    case 'operators':
      return operatorSamples(false)
        .filter((s) => !s.name.includes(' constant '))
        .filter((_, k) => k % n === 0);
    case 'constants':
      return operatorSamples().filter((s) => s.name.includes(' constant '));
    case 'random':
      return several(randomSample);
    case 'meeting':
      return [meeting(true), meeting(false)];
    case 'programs':
      return several((seed) => program(seed, false));
    case 'checked':
      return several((seed) => program(seed, true));
    default:
      throw new Error(`no set of samples is called '${set}'`);
  }
}

const pocl = Pocl.open();
if (typeof pocl === 'string') process.stdout.write(JSON.stringify({ missing: pocl }));
else {
  const all = samples();
  const differences = all.flatMap((s) => difference(pocl, s) ?? []);
  process.stdout.write(JSON.stringify({ count: all.length, differences }));
}
