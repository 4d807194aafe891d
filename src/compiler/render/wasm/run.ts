/**
 * The exported function `run` of a module: goes over a range of blocks and has `group` run a few of them at a time.
 *
 * It knows nothing of the kernel but how soon its blocks are done. Where a kernel fails, it turns the place of the block that `group` left in the fault record
 * into the block's number.
 */
import { work } from '../../ir/measures.ts';
import type { Kernel } from '../../ir/ops.ts';
import { someStmt } from '../../ir/passes/walk.ts';
import { FunctionBuilder } from './assembler.ts';
import type { WasmVariant } from './module.ts';

/**
 * Blocks in one call of `group`, which need the parameters and their limits but once: some of a row, or several whole rows where these are short. The
 * first calls of all get fewer: they may run the code that the engine makes in a hurry, and goes on with to the end of the call.
 */
const BLOCKS_TOGETHER = 16;
/** The same of blocks that are soon done, as many as a row of 2048 has where they are narrow, and of blocks that go through their rounds in turns. */
export const MOST_TOGETHER = 64;
/** What one of these does, all its threads together: nodes that are evaluated. */
const QUICK = 2 ** 16;
/** How many times as many the next call gets. */
const GROWTH = 4;

/** How many blocks of a kernel are in one call, of which `inTurns` go through their rounds together. */
export function blocksTogether(
  { body }: Kernel,
  { block: [width, height, depth], quick }: Pick<WasmVariant, 'block' | 'quick'>,
  inTurns: number,
): number {
  if (quick === true) return BLOCKS_TOGETHER;
  const soon = !someStmt(body, (s) => s.op === 'loop') && work(body).nodes * width * height * depth < QUICK;
  return soon || inTurns > BLOCKS_TOGETHER ? MOST_TOGETHER : BLOCKS_TOGETHER;
}

/** For how many blocks the first call in a module is. */
export const FIRST_CALL = 1;

/** The code of `run` by what it depends on. */
const RUN_BODIES = new Map<string, Uint8Array>();

/** `most` is the global that says for how many blocks the next call of `group` is, at most `together`. */
export function runBody(group: number, most: number, together: number): Uint8Array {
  const key = `${group}/${most}/${together}`;
  const known = RUN_BODIES.get(key);
  if (known !== undefined) return known;
  const f = new FunctionBuilder(['i32', 'i32', 'i32', 'i32']);
  writeRun(f, group, most, together);
  const body = f.body().finish();
  RUN_BODIES.set(key, body);
  return body;
}

/** Parameters: first block, end block, record, scratch. */
function writeRun(f: FunctionBuilder, group: number, most: number, together: number): void {
  const [block, end, record, scratch] = [0, 1, 2, 3];
  const locals = Array.from({ length: 8 }, () => f.local('i32'));
  const [gx, gy, x, y, z, result, count, rows] = locals as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (const [local, offset] of [
    [gx, 0],
    [gy, 4],
  ] as const) {
    f.get(record);
    f.memory('i32.load', 2, offset);
    f.set(local);
  }
  f.get(block, gx);
  f.op('i32.rem_u');
  f.set(x);
  f.get(block, gx);
  f.op('i32.div_u');
  f.tee(z);
  f.get(gy);
  f.op('i32.rem_u');
  f.set(y);
  f.get(z, gy);
  f.op('i32.div_u');
  f.set(z);
  const done = f.block();
  const again = f.loop();
  f.get(block, end);
  f.op('i32.ge_u');
  f.brIf(done);
  f.getGlobal(most);
  f.set(count);
  /** A number, at most what is left of a range. */
  const atMost = (value: number, from: number, to: number): void => {
    f.get(value, to, from);
    f.op('i32.sub');
    f.get(value, to, from);
    f.op('i32.sub', 'i32.lt_u', 'select');
    f.set(value);
  };
  atMost(count, x, gx);
  atMost(count, block, end);
  // Whole rows, as many as there may be blocks.
  f.i32(1);
  f.set(rows);
  f.get(count, gx);
  f.op('i32.eq');
  f.if();
  f.getGlobal(most);
  f.set(rows);
  atMost(rows, block, end);
  f.get(rows, gx);
  f.op('i32.div_u');
  f.set(rows);
  atMost(rows, y, gy);
  f.end();
  f.get(x, x, count);
  f.op('i32.add');
  f.get(y, z, record, scratch, y, rows);
  f.op('i32.add');
  f.call(group);
  f.tee(result);
  f.if();
  // What `group` left there is the block's x and y.
  f.get(scratch, scratch);
  f.memory('i32.load', 2, 8);
  f.get(x);
  f.op('i32.sub');
  f.get(scratch);
  f.memory('i32.load', 2, 12);
  f.get(y);
  f.op('i32.sub');
  f.get(gx);
  f.op('i32.mul', 'i32.add');
  f.get(block);
  f.op('i32.add', 'i64.extend_i32_u');
  f.memory('i64.store', 3, 8);
  f.get(result);
  f.op('return');
  f.end();
  const step = (local: number, by: () => void, limit: number, carry: () => void): void => {
    f.get(local);
    by();
    f.op('i32.add');
    f.tee(local);
    f.get(limit);
    f.op('i32.eq');
    f.if();
    f.i32(0);
    f.set(local);
    carry();
    f.end();
  };
  const increase = (local: number, by: () => void): void => {
    f.get(local);
    by();
    f.op('i32.add');
    f.set(local);
  };
  increase(block, () => {
    f.get(count, rows);
    f.op('i32.mul');
  });
  step(
    x,
    () => f.get(count),
    gx,
    () =>
      step(
        y,
        () => f.get(rows),
        gy,
        () => increase(z, () => f.i32(1)),
      ),
  );
  f.getGlobal(most);
  f.i32(together);
  f.op('i32.lt_u');
  f.if();
  f.getGlobal(most);
  f.i32(GROWTH);
  f.op('i32.mul');
  f.setGlobal(most);
  f.end();
  f.br(again);
  f.end();
  f.end();
  f.i32(0);
}
