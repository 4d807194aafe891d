/**
 * Tiles of one launch that each need what all tiles before them come to: "decoupled look-back", by fixed trees.
 *
 * A tile leaves what it comes to (32 tiles are a group), the last tile of a group what the group comes to (32 groups are a row), the last tile of a row
 * what all up to there come to. A tile waits for the tiles of its group, the groups of its row, and the row before: which values meet in which order depends on
 * their places alone, so that sums of floats have the same bits every time. Each 32-bit word is left in a word of 64 bits with a flag, so that no
 * fence is needed. Tiles take their numbers by an atomic counter: those before have begun, and get done.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { u32, u64 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';
import { jitOn } from './place.ts';
import { exchangeOf, type ValueWords } from './value-words.ts';

type Op = (a: Value, b: Value) => Value;
type State = Vec<bigint>;
/** The words of a place, and their flags. */
type Slot = readonly bigint[];

/** Bits of the flag of a word. */
const LEFT = 0x100000000n;
/** Nanoseconds between looks. */
const SLEEP = 40;
/** Where the counter is. */
const FIRST = 1;

/**
 * For the first warp of a block, all lanes: publishes what tile `tile` of `tiles` comes to, and gives what all before it come to, in lane 0. Nothing that
 * means anything for tile 0.
 */
export type LookBack = (state: State, tiles: number, tile: number, lane: number, value: Value) => Value;

/** 64-bit words that tiles leave values in, `words` 32-bit words each; zeroed before the launch. */
export function stateLength(tiles: number, words: number): number {
  const groups = Math.ceil(tiles / 32);
  const rows = Math.ceil(groups / 32);
  return FIRST + words * (tiles + groups + rows + 1);
}

/** The array that tiles leave values in, and the launch that makes it ready. */
export function stateFor(place: Workplace, tiles: number, words: number): { state: DeviceNDArray; step: Step } {
  const state = place.temporary([stateLength(tiles, words)], u64);
  const jit = jitOn(place.context);
  const kernel = remember(['clear state', jit], () => clearing(jit));
  const threads = Math.min(state.size, 65_536);
  const step = {
    kernel: kernel as unknown as Step['kernel'],
    shape: { threads, block: 256, stream: place.stream },
    args: [state],
  };
  return { state, step };
}

function clearing(jit: Jit): Kernel<[state: State]> {
  const captures = { ...WORDS };
  return jit(
    ({ grid, gridSize }: typeof captures) =>
      (state: State) => {
        for (let i = grid(1); i < state.length; i += gridSize(1)) state[i] = 0n;
      },
    { captures, name: 'clear' },
  ) as unknown as Kernel<[state: State]>;
}

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** The parts that look at and leave words. */
function slotsOf({ count, to, from }: ValueWords) {
  const words = Array.from({ length: count }, (_, k) => k);
  const captures = { ...WORDS, words, count, to, from, u32, u64, LEFT, FIRST };
  const publish = device(
    ({ atomicStore, to, count, u64, LEFT, FIRST }: typeof captures) =>
      (state: State, slot: number, value: Value): void => {
        to(value).forEach((w, k) => atomicStore(state, FIRST + slot * count + k, u64(w) | LEFT));
      },
    captures,
  );
  const look = device(
    ({ atomicLoad, words, count, FIRST }: typeof captures) =>
      (state: State, slot: number): Slot =>
        words.map((k) => atomicLoad(state, FIRST + slot * count + k)),
    captures,
  );
  const isLeft = device(
    ({ words, u32 }: typeof captures) =>
      (slot: Slot): boolean => {
        let all = 1;
        words.forEach((k) => {
          all &= u32((slot[k] as bigint) >> 32n);
        });
        return all !== 0;
      },
    captures,
  );
  const valueIn = device(
    ({ from, u32 }: typeof captures) =>
      (slot: Slot): Value =>
        from(slot.map((w) => u32(w & 0xffffffffn))),
    captures,
  );
  const nothing = device(
    ({ words, u64, LEFT }: typeof captures) =>
      (): Slot =>
        words.map(() => u64(LEFT)),
    captures,
  );
  return { publish, look, isLeft, valueIn, nothing };
}

/** Lanes 0 to `count` - 1 combined in their order, in lane 0. */
export function foldOf(value: ValueWords, op: Op): (value: Value, lane: number, count: number) => Value {
  const { down } = exchangeOf(value);
  const captures = { down, op, pick: value.pick, steps: [1, 2, 4, 8, 16] };
  return device(
    ({ down, op, pick, steps }: typeof captures) =>
      (value: Value, lane: number, count: number): Value => {
        let sum = value;
        steps.forEach((by) => {
          const other = down(sum, by);
          sum = pick(lane + by < count, op(sum, other), sum);
        });
        return sum;
      },
    captures,
  );
}

/** The look-back of values that `op` combines. */
export function lookBackOf(value: ValueWords, op: Op): LookBack {
  const captures = { ...WORDS, ...slotsOf(value), fold: foldOf(value, op), op, pick: value.pick, SLEEP };
  return device((words: typeof captures) => {
    const { anySync, nanosleep, publish, look, isLeft, valueIn, nothing, fold, op, pick, SLEEP } = words;
    return (state: State, tiles: number, tile: number, lane: number, value: Value): Value => {
      const [inGroup, group] = [tile & 31, tile >> 5];
      const [inRow, row] = [group & 31, group >> 5];
      const rowsAt = tiles + ((tiles + 31) >> 5);
      if (lane === 0) publish(state, tile, value);
      let near = nothing();
      let far = nothing();
      let start = nothing();
      if (lane < inGroup) near = look(state, group * 32 + lane);
      if (lane < inRow) far = look(state, tiles + row * 32 + lane);
      if (lane === 0 && row > 0) start = look(state, rowsAt + row);
      while (anySync(0xffffffff, !isLeft(near))) {
        nanosleep(SLEEP);
        if (!isLeft(near)) near = look(state, group * 32 + lane);
      }
      const before = fold(valueIn(near), lane, inGroup);
      const upTo = pick(inGroup > 0, op(before, value), value);
      if (lane === 0 && inGroup === 31) publish(state, tiles + group, upTo);
      while (anySync(0xffffffff, !(isLeft(far) && isLeft(start)))) {
        nanosleep(SLEEP);
        if (!isLeft(far)) far = look(state, tiles + row * 32 + lane);
        if (!isLeft(start)) start = look(state, rowsAt + row);
      }
      const groups = fold(valueIn(far), lane, inRow);
      const all = pick(row > 0, pick(inRow > 0, op(valueIn(start), groups), valueIn(start)), groups);
      const any = row > 0 || inRow > 0;
      if (lane === 0 && inGroup === 31 && inRow === 31) {
        publish(state, rowsAt + row + 1, pick(any, op(all, upTo), upTo));
      }
      return pick(any, pick(inGroup > 0, op(all, before), all), before);
    };
  }, captures);
}
