/**
 * Remainders of sums, `(x + 1) % n`: at most one divisor is taken away where that is enough, for numbers of every size and sign.
 */
import { it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { check } from './launch.testing.ts';

const t = ir.special('threadIdx.x');
const LEAST = -(2 ** 31);
const SUMS = [0, 1, 2, 5, 6, 7, 8, 13, 14, 15, 100, 0x70000000, 0x7ffffffe, 0x7fffffff];
const ALL = Int32Array.from([...SUMS, ...SUMS.map((x) => ~x), LEAST, LEAST + 7]);
const DIVISORS = [0, 1, 3, 7, 100, 0x6fffffff, 0x7fffffff, -1, -3, -7, -0x10000000, LEAST + 1, LEAST];

it.each(['i32', 'u32'] as const)('of %s', (type) => {
  const b = new ir.KernelBuilder('wraps');
  const [from, out, n] = [b.global(type, 'from'), b.global(type, 'out'), b.value(type, 'n')];
  const one = ir.constant(type, 1);
  const sum = ir.add(ir.load(ir.at(from, t)), one);
  const kernel = b.build([ir.store(ir.at(out, t), ir.binary('rem', sum, n))]);
  const bytes = ALL.length * 4;
  const image = new Uint8Array(2 * bytes);
  image.set(new Uint8Array(ALL.map((x) => x - 1).buffer));
  for (const by of DIVISORS) {
    const divisor = type === 'u32' ? by >>> 0 : by;
    check(kernel, { block: [ALL.length, 1, 1] }, [0, bytes, divisor], image, [
      { at: bytes, elem: type, length: ALL.length },
    ]);
  }
});
