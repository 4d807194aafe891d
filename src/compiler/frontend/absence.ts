/**
 * Errors about values that may not be there: what has none, where it has none from, and what to write.
 */
import type { Pos } from '../source.ts';
import { textOf } from './convert.ts';
import { fail } from './diagnostics.ts';
import { describe } from './positions.ts';
import { type Presence, VALUE } from './presence-state.ts';
import type { Absence } from './values.ts';

/** Refuses the use of a variable where it may have no value. */
export function refuseAbsent(name: string, pos: Pos, { bits, why }: Presence): never {
  const subject = name.startsWith('%') ? 'this' : name;
  const verb = (bits & VALUE) === 0 ? 'has' : 'may have';
  const cause = why?.why === undefined ? undefined : { text: why.why, pos: why.pos };
  return refuse(`${subject} ${verb} no value here`, pos, cause);
}

/** Refuses the use of what is undefined whenever control comes here. */
export function refuseUndefined(what: string, pos: Pos, why: Absence | undefined): never {
  if (why?.error !== undefined) return fail(why.error.code, why.pos, why.text, { help: why.error.help });
  return refuse(`${what} has no value here`, pos, why);
}

function refuse(text: string, pos: Pos, why: Absence | undefined): never {
  const used = textOf(pos);
  const name = /^[\w$.[\]()]+$/.test(used) && used.length <= 30 ? used : 'x';
  return fail('K319', pos, why === undefined ? text : `${text}: ${why.text} (line ${describe(why.pos).line})`, {
    labels: why === undefined ? [] : [{ pos: why.pos, text: 'no value from here' }],
    help: `say what it is then: ${name} ?? 0; or test it first: if (${name} !== undefined) …`,
  });
}

/** Refuses to ask of an element whether it is there: JavaScript's answer for an index outside is another than that of a device. */
export function refuseElement(pos: Pos): never {
  const element = textOf(pos);
  return fail('K321', pos, 'an element of an array is never undefined: an index outside the array is an error', {
    help: `test the index: i >= 0 && i < a.length; or leave the test out and use ${element === 'x' ? 'the element' : element}`,
  });
}

/** Refuses to tell undefined from null at run time. */
export function refuseMixture(pos: Pos): never {
  return fail('K320', pos, 'this may be undefined or null, and === tells them apart', {
    help: 'write == null, which is true for both, or use only one of the two',
  });
}
