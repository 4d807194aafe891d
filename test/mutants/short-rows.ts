/**
 * Mistakes in which code a launch on arrays with short rows gets.
 */
import type { Row } from './row.ts';

const TESTS = ['src/driver/cpu/plans.test.ts'];

const MISTAKES: readonly Row[] = [
  [
    'short-rows',
    'if ((rows[k] ?? 0) !== this.#row(',
    'if (rows[k] !== undefined && rows[k] !== this.#row(',
    'any code will do',
  ],
  ['short-rows', 'this.#known.length === KINDS', 'false', 'a form for each length'],
  ['short-rows', 'origin.axis > 0', 'true', 'vectors have forms of their own'],
  ['short-rows', 'this.#known.push(rows);', '', 'lengths are forgotten'],
  ['short-rows', '(next < 0 || this.#row(next, args) > 0)', 'true', 'what is long within is short'],
  ['plans', '      last.apart === apart &&\n', '', 'whether arrays are apart is what it was in the launch before'],
  ['plans', ';${apart}`', '`', 'code for arrays that are apart is for any'],
  ['plans', '      this.#rows.are(last.rows, args) &&\n', '', 'all rows are as long as those of the launch before'],
  [
    'plans',
    'this.make({ ...old, effort })',
    'this.make({ ...old, rows: ANY_ROWS, effort })',
    'full code is for any rows',
  ],
  ['plans', ';${rows.join()};', ';;', 'the first rows are those of all'],
  ['plans', "known < SHORT_FIRST_MS ? 'scalar'", "true ? 'scalar'", 'long loops run scalar code'],
  [
    'plans',
    'plan.spent += Math.max(plan.schedule.expected(blocks), told ?? 0);',
    'plan.spent += plan.schedule.expected(blocks);',
    'a long launch after a short one runs its code',
  ],
  [
    'plans',
    'this.facts.separate && known !== undefined',
    'known !== undefined',
    'threads that wait for each other run scalar code',
  ],
];

export const SHORT_ROWS: readonly Row[] = MISTAKES.map(
  ([file, find, replace, what]): Row => [`driver/cpu/${file}`, find, replace, what, TESTS],
);
