/**
 * Seeded mistakes: each changes the meaning of some program, and the tests must find it.
 *
 * A mutant is a file, an exact piece of its text that stands there once, and what to put in its place.
 */

import { ABSENCE } from './absence.ts';
import { BIT_COUNTS } from './bit-counts.ts';
import { BOX_ROWS } from './boxes.ts';
import { COLUMNS } from './columns.ts';
import { COUNTERS } from './counters.ts';
import { FRONT } from './frontend.ts';
import { GATHERS } from './gathers.ts';
import { INTERIOR } from './interior.ts';
import { KEEP_INTEGERS } from './keep-integers.ts';
import { LADDERS } from './ladders.ts';
import { LANE_COUNT } from './lane-count.ts';
import { LANES } from './lanes.ts';
import { LANGUAGE } from './language.ts';
import { LAST_ROUNDS } from './last-rounds.ts';
import { LAYOUT } from './layout.ts';
import { MEMORY } from './memory.ts';
import { NAMES } from './names.ts';
import { NARROW } from './narrow.ts';
import { NEIGHBOURS } from './neighbours.ts';
import { OWN_COPIES } from './own-copies.ts';
import { PAIRS } from './pairs.ts';
import { PASSES } from './passes.ts';
import { QUOTIENTS } from './quotients.ts';
import { RARE } from './rare.ts';
import { ROUND_COUNTERS } from './round-counters.ts';
import type { Row } from './row.ts';
import { ROW_FOURS } from './row-fours.ts';
import { ROW_SUMS } from './row-sums.ts';
import { SCATTERED } from './scattered.ts';
import { SHORT_ROWS } from './short-rows.ts';
import { SIMULATOR } from './simulator.ts';
import { STEPPED } from './stepped.ts';
import { STRIDES } from './strides.ts';
import { WARPS } from './warps.ts';
import { MATH, WASM } from './wasm.ts';

export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly what: string;
  /** Arguments of vitest: the tests that must find it. Absent: the battery. */
  readonly tests?: readonly string[];
}

function under(folder: string, list: readonly Row[]): Mutant[] {
  return list.map(([file, find, replace, what, tests]) => ({
    file: `src/${folder}${file}.ts`,
    find,
    replace,
    what,
    ...(tests && { tests }),
  }));
}

export const MUTANTS: readonly Mutant[] = [
  ...under('', BIT_COUNTS),
  ...under('', BOX_ROWS),
  ...under('layout/', LAYOUT),
  ...under('', MEMORY),
  ...under('', NAMES),
  ...under('', NARROW),
  ...under('compiler/', FRONT),
  ...under('compiler/frontend/', ABSENCE),
  ...under('compiler/', PASSES),
  ...under('compiler/', COLUMNS),
  ...under('compiler/', WASM),
  ...under('compiler/render/wasm/', INTERIOR),
  ...under('compiler/render/wasm/', ROW_FOURS),
  ...under('compiler/render/wasm/', ROW_SUMS),
  ...under('compiler/render/wasm/', LADDERS),
  ...under('compiler/render/wasm/', COUNTERS),
  ...under('compiler/', MATH),
  ...under('compiler/', LANES),
  ...under('compiler/', STRIDES),
  ...under('compiler/', SCATTERED),
  ...under('compiler/', WARPS),
  ...under('driver/simulator/', SIMULATOR),
  ...under('compiler/render/wasm/', PAIRS),
  ...under('compiler/render/wasm/', RARE),
  ...under('compiler/', GATHERS),
  ...under('compiler/', NEIGHBOURS),
  ...under('compiler/', LAST_ROUNDS),
  ...under('compiler/render/wasm/', STEPPED),
  ...under('', OWN_COPIES),
  ...under('', QUOTIENTS),
  ...under('', ROUND_COUNTERS),
  ...under('', LANE_COUNT),
  ...under('', KEEP_INTEGERS),
  ...under('', SHORT_ROWS),
  ...LANGUAGE.map(([file, find, replace, what, tests]) => ({ file: `src/${file}.ts`, find, replace, what, tests })),
];
