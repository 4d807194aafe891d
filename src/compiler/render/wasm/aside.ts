/**
 * Where inactive lanes store.
 *
 * Stores that go to memory lane by lane are made by all lanes, the inactive ones to scratch memory that nobody reads before it is
 * written. A branch for each lane instead would be guessed wrong every other time where data decide which lanes are active. To
 * load, blend and store a whole vector would undo what another thread writes in the meantime.
 */
import type { Local } from './assembler.ts';
import { lanesFrom } from './expr.ts';
import type { Gen } from './gen.ts';

/** Pushes the address for inactive lanes, in each lane of a vector. In 32-bit memories only. */
export function pushAside({ f, at, layout }: Gen): void {
  f.get(at.scratch);
  f.i32(layout.faultLanes);
  f.op('i32.add', 'i32x4.splat');
}

/** The addresses of lanes in a row under a mask, four to a vector; `first` pushes that of lane 0. */
export function rowAside(g: Gen, active: readonly Local[], first: () => void, size: number): readonly Local[] {
  const { f } = g;
  return active.map((mask, p) => {
    const local = f.temp('v128');
    first();
    f.op('i32x4.splat');
    const [a, b, c, d] = lanesFrom(4 * p);
    f.v128([a * size, b * size, c * size, d * size]);
    f.op('i32x4.add');
    pushAside(g);
    f.get(mask);
    f.op('v128.bitselect');
    f.set(local);
    return local;
  });
}
