/**
 * Mistakes in what the front end knows of values that may be absent.
 */
import type { Row } from './row.ts';

const ABSENT = ['src/compiler/absent.test.ts'];

export const ABSENCE: readonly Row[] = [
  [
    'presence',
    "return e.fn === 'and' ? [yes2, merge(no, no2)] : [merge(yes, yes2), no2];",
    "return e.fn === 'and' ? [yes2, no2] : [yes2, no2];",
    'what one side of && rules out is forgotten',
  ],
  [
    'presence',
    "const first = e.fn === 'and' ? yes : no;",
    "const first = e.fn === 'and' ? no : yes;",
    '&& narrows the other way',
  ],
  ['presence', '        return [no, yes];', '        return [yes, no];', '! does not turn what is known'],
  [
    'presence',
    'const no = narrow(state, flag, ~FOUND[e.as]);',
    'const no: Flow = state;',
    'a test that fails says nothing',
  ],
  [
    'presence',
    'const yes = narrow(state, flag, FOUND[e.as]);',
    'const yes: Flow = narrow(state, flag, FOUND.either);',
    'null is undefined',
  ],
  [
    'presence',
    'if (presence.bits !== VALUE) refuse',
    'if ((presence.bits & VALUE) === 0) refuse',
    'what may be there is taken to be',
  ],
  [
    'presence',
    'return merge(then, s.always === true ? undefined : this.#run(s.else, no));',
    'return merge(then, this.#run(s.else, no));',
    'no case of a switch is sure to be entered',
  ],
  [
    'presence',
    'const next = merge(head, this.#round(s, head, target));',
    'const next = merge(head, (this.#round(s, head, target), undefined));',
    'nothing comes back from a round',
  ],
  [
    'presence',
    "const answer = yes === undefined ? 'no' : no === undefined ? 'yes' : 'both';",
    "const answer = yes === undefined ? 'yes' : no === undefined ? 'no' : 'both';",
    'questions are answered the wrong way',
  ],
  ['presence', "is === 'present', pos }", "is !== 'present', pos }", 'flags are upside down'],
  [
    'presence',
    'for (const local of tested) values.get(local)?.forEach(visit);',
    '',
    'a named test of a named test is forgotten',
  ],
  [
    'presence',
    "this.taken.set(s, no === undefined ? 'then' : 'else');",
    "this.taken.set(s, no === undefined ? 'else' : 'then');",
    'the branch that is never taken stays',
  ],
  ['presence', 'return s.moot === true ? [] : [s];', 'return [];', 'breaks are dropped'],
  [
    'presence-state',
    'out.set(flag, { bits: mine.bits | other.bits, why: mine.why ?? other.why });',
    'out.set(flag, { bits: mine.bits & other.bits || mine.bits, why: mine.why ?? other.why });',
    'where ways meet one of them counts',
  ],
  [
    'presence-state',
    '.filter(([copy, of]) => copy !== flag && of !== flag)',
    '.filter(([copy]) => copy !== flag)',
    'a copy narrows what has been assigned since',
  ],
  [
    'presence-state',
    'const only = (flags: Flags | undefined, known: Fact): Flow =>',
    'const only = (flags: Flags | undefined = state.flags, known: Fact = {}): Flow =>',
    'a condition may be what it cannot be',
  ],
  ['optionals', 'binding.vanishes = true;', '', 'a value that is taken away stays'],
  [
    'partial-variables',
    'if (flag === undefined || ctx.loops === binding.loops) return',
    'if (true) return',
    'a round does not see what the one before assigned',
  ],
  [
    'optionals',
    'if (binding.relied === true && ctx.loops > binding.loops)',
    'if (false)',
    'what was relied on is not looked at again',
  ],
  ['partial-variables', 'if (isOptional(returned)) frame.returnedNothing = true;', '', 'all results are there'],
  [
    'names',
    '      return first !== undefined && firstAssigned(first, name);',
    '      return true;',
    'the first of several expressions is an assignment',
    ABSENT,
  ],
  [
    'names',
    "    if (assigned !== 'declared') return assigned;\n  }\n  return false;",
    "    if (assigned !== 'declared') return assigned;\n  }\n  return true;",
    'what is not mentioned is assigned',
    ABSENT,
  ],
  [
    'inlining',
    'return reachesEnd(last.then) || reachesEnd(last.else);',
    'return reachesEnd(last.then) && reachesEnd(last.else);',
    'the end of a function is not reached by half of its ways',
    ABSENT,
  ],
  ['switch', 'if (otherwise >= 0 && end?.k', 'if (end?.k', 'a switch without a default enters a case', ABSENT],
  [
    'loops',
    "(s) => s.k !== 'assign' && s.k !== 'presence')) return false;\n  const known",
    "(s) => s.k === 'trap')) return false;\n  const known",
    'a counter starts at what it might',
    ABSENT,
  ],
];
