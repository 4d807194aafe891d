/**
 * Exchanges between the lanes of a warp where subgroups are warps, and all lanes are there: lowerWarps has left no others.
 *
 * W3C: WGSL, https://www.w3.org/TR/WGSL/#subgroup-builtin-functions.
 */

import type { Expr, Stmt, ValueType } from '../../ir/ops.ts';
import { WARP_SIZE } from '../../ir/warp.ts';
import { call, define, type Gen, isWide, type Print, typeOf, varName } from './code.ts';

type Exchange = Stmt & { readonly op: 'warp' };

const LANE = `(number & ${WARP_SIZE - 1}u)`;

export function emitWarp(g: Gen, print: Print, s: Exchange): void {
  g.enabled.add('subgroups');
  if (s.result === undefined) return;
  g.lines.add(`${varName(s.result)} = ${exchanged(g, print, s)};`);
}

function exchanged(g: Gen, print: Print, { fn, args: [value, by] }: Exchange): string {
  const x = value === undefined ? 'true' : print(value);
  switch (fn) {
    case 'shfl':
    case 'shflUp':
    case 'shflDown':
    case 'shflXor':
      return shuffled(fn, value as Expr, x, by as Expr, print);
    case 'all':
      return call('subgroupAll', x);
    case 'any':
      return call('subgroupAny', x);
    case 'eq':
      return call(define(g, 'all_or_none', ALL_OR_NONE), x);
    case 'ballot':
    case 'activeMask':
      return `${call('subgroupBallot', x)}.x`;
    case 'matchAny': {
      const [first = '', ...more] = wordsOf(value as Expr, x);
      const match = define(g, 'same_lanes', SAME_LANES);
      return more.reduce((same, word) => call(match, word, same), call(match, first, '0xffffffffu'));
    }
    case 'matchAll': {
      const same = wordsOf(value as Expr, x).map((word) => `(${word} == subgroupBroadcastFirst(${word}))`);
      // `&&` would have some lanes skip an exchange.
      return `select(0u, 0xffffffffu, subgroupAll(${same.join(' & ')}))`;
    }
    default:
      throw new Error(`internal error: ${fn} was not lowered`);
  }
}

const ALL_OR_NONE =
  'fn all_or_none(a: bool) -> bool { let lanes = subgroupBallot(a).x; return lanes == 0xffffffffu || lanes == 0u; }';

/** Of the lanes that `among` names, those that have the same word. */
const SAME_LANES =
  `fn same_lanes(word: u32, among: u32) -> u32 { var same = among; for (var k = 0u; k < 32u; k += 1u) { ` +
  'let is_set = ((word >> k) & 1u) != 0u; let lanes = subgroupBallot(is_set).x; same &= select(~lanes, lanes, is_set); } return same; }';

function wordsOf({ type }: Expr, x: string): readonly string[] {
  if (isWide(type)) return [`${x}.x`, `${x}.y`];
  return [type === 'u32' ? x : `bitcast<u32>(${x})`];
}

/** The bits of the value go, not the value: a NaN stays which it is. */
function shuffled(fn: Exchange['fn'], { type }: Expr, x: string, by: Expr, print: Print): string {
  const bits = bitsOf(type, x);
  const taken = (text: string): string =>
    type === 'f32' || type === 'i32' ? `bitcast<${typeOf(type)}>(${text})` : text;
  const step =
    by.op === 'const' ? `${Number(by.value) & (WARP_SIZE - 1)}u` : `(bitcast<u32>(${print(by)}) & ${WARP_SIZE - 1}u)`;
  if (fn === 'shfl') return taken(`subgroupShuffle(${bits}, ${step})`);
  // A step that lanes have not in common is not allowed in the functions that take one.
  if (fn === 'shflXor') {
    return taken(
      by.op === 'const' ? `subgroupShuffleXor(${bits}, ${step})` : `subgroupShuffle(${bits}, ${LANE} ^ ${step})`,
    );
  }
  const [there, other] =
    fn === 'shflUp'
      ? [`${LANE} >= ${step}`, `${LANE} - ${step}`]
      : [`${LANE} + ${step} < ${WARP_SIZE}u`, `${LANE} + ${step}`];
  return taken(`subgroupShuffle(${bits}, select(${LANE}, ${other}, ${there}))`);
}

function bitsOf(type: ValueType, x: string): string {
  return type === 'f32' || type === 'i32' ? `bitcast<u32>(${x})` : x;
}
