import { expect, it } from 'vitest';
import { assign, block, breakTo, continueTo, i32, ifElse, loop, lt, negate, read } from './builder.ts';
import { exitOf, type Loop, testedLoop } from './loops.ts';
import type { Stmt, Var } from './ops.ts';

const k: Var = { id: 0, name: 'k', type: 'i32' };
const over = lt(i32(4), read(k));
const step = assign(k, i32(5));
const looping = (...body: readonly Stmt[]): Loop => loop(7, body) as Loop;

it('reads a test before each round, whichever way leaves', () => {
  expect(testedLoop(looping(ifElse(over, [breakTo(7)]), step))).toEqual({ exit: over, body: [step] });
  expect(testedLoop(looping(ifElse(over, [], [breakTo(7)]), step))).toEqual({ exit: negate(over), body: [step] });
});

it('and nothing else', () => {
  const others: readonly (readonly Stmt[])[] = [
    [],
    [breakTo(7)],
    [step, ifElse(over, [breakTo(7)])],
    [ifElse(over, [breakTo(8)])],
    [ifElse(over, [continueTo(7)])],
    [ifElse(over, [step, breakTo(7)])],
    [ifElse(over, [breakTo(7)], [step])],
    [block(8, [ifElse(over, [breakTo(7)])])],
  ];
  for (const body of others) expect(testedLoop(looping(...body))).toBeUndefined();
  expect(exitOf(undefined, 7)).toBeUndefined();
});
