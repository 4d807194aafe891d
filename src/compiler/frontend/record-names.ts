/**
 * Names for records: `const t = p[i]` names an object, as in JavaScript. While that object is the element, what goes through the
 * name goes to the array; a name that is read after the element may have been assigned as a whole is given a copy, which is
 * taken before that (`name-copies.ts`). `name-states.ts` says which names these are; where it cannot be told which of the two is
 * meant, this refuses.
 */

import { walkStatements } from '../types/parts.ts';
import type { RecordName, Root, TStmt } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { copyNames } from './name-copies.ts';
import { NameStates, type Trouble } from './name-states.ts';

export interface Settled {
  readonly body: readonly TStmt[];
  /** Arguments that the kernel takes not to share memory. */
  readonly apart: readonly (readonly [Root, Root])[];
}

/** The kernel with a copy for each name that needs one; the same where none does. */
export function settleNames(ctx: Evaluation, body: readonly TStmt[]): Settled {
  if (!hasOverwrites(body)) return { body, apart: [] };
  const trusting = new Set<RecordName>();
  let states = new NameStates(body, trusting);
  for (const name of states.troubles.keys()) if (states.isReplacedByArguments(name)) trusting.add(name);
  if (trusting.size > 0) states = new NameStates(body, trusting);
  for (const [name, trouble] of states.troubles) {
    const { text } = name;
    if (text?.constant) ctx.hints.keep(text.name, text.pos);
    refuse(states, name, trouble);
  }
  return { body: copyNames(ctx, states, body), apart: states.apart };
}

function hasOverwrites(body: readonly TStmt[]): boolean {
  let found = false;
  walkStatements(body, (s) => {
    if (s.k === 'overwritten') found = true;
  });
  return found;
}

function refuse(states: NameStates, record: RecordName, { pos, why }: Trouble): never {
  const { name, region } = record;
  const labels = states.overwritesOf(record).map((by) => ({ pos: by.pos, text: 'assigned as a whole' }));
  const element = `an element of ${region.root.name}`;
  if (why === 'index') {
    return fail(
      'K244',
      pos,
      `${name} is ${element} that is assigned as a whole, and is indexed by a variable after that`,
      {
        labels,
        help: 'copy the element before, to memory that can be indexed: const own = cuda.local.array(1, dtype); own[0] = p[i]',
      },
    );
  }
  return fail(
    'K244',
    pos,
    why === 'written'
      ? `${name} is written to after ${element}, which it names, may have been assigned as a whole`
      : `${name} is read after ${element}, which it names, may have been assigned as a whole and then changed`,
    {
      labels,
      help: `to keep what the element was, copy it: const ${name} = { ...${region.root.name}[i] }; to go on with the array, name the element again after the assignment`,
    },
  );
}
