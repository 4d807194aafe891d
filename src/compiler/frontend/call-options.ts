/**
 * Options of calls in kernels, `{ order: 'acquire', scope: 'device' }`: what they say must be known at compile time.
 */
import { spelled } from '../intrinsics.ts';
import { fail } from './diagnostics.ts';
import type { Call } from './intrinsic-call.ts';
import { describeValue, isAbsent, isLiteral, type Value } from './values.ts';

/** What options can say: one of some words, or what a test takes; `help` is for what it refuses. */
type Choices = Readonly<Record<string, readonly string[] | { readonly help: string; is(value: unknown): boolean }>>;

type Options<C> = { readonly [K in keyof C]?: unknown };

/** Argument `k` as an object of options; those that are missing or undefined are left out. */
export function optionsOf<C extends Choices>(call: Call, k: number, choices: C): Options<C> {
  const given = call.args[k];
  if (given === undefined || isAbsent(given)) return {};
  const found: Record<string, unknown> = {};
  for (const [name, value] of entries(call, given, Object.keys(choices))) {
    if (!(name in choices)) {
      return fail('K342', call.pos, `${spelled(call.name)} has no option ${name}`, {
        help: `it has ${Object.keys(choices).join(' and ')}`,
      });
    }
    const allowed = choices[name];
    if (value === undefined || allowed === undefined) continue;
    const fits = 'is' in allowed ? allowed.is(value) : allowed.includes(value as string);
    if (!fits) {
      const help = 'is' in allowed ? allowed.help : `one of ${allowed.map((word) => `'${word}'`).join(', ')}`;
      const shown = typeof value === 'string' ? `'${value}'` : String(value);
      return fail('K342', call.pos, `${shown} is not a valid ${name} for ${spelled(call.name)}`, { help });
    }
    found[name] = value;
  }
  return found as Options<C>;
}

/** The members of an object that was written in the kernel or captured. */
function entries(call: Call, given: Value, names: readonly string[]): readonly (readonly [string, unknown])[] {
  if (given.kind === 'record')
    return [...given.fields].map(([name, value]) => [name, known(call, name, value)] as const);
  if (given.kind === 'host' && typeof given.value === 'object' && given.value !== null)
    return Object.entries(given.value);
  return fail('K342', call.pos, `the options of ${spelled(call.name)} are an object, not ${describeValue(given)}`, {
    help: `write { ${names.map((name) => `${name}: …`).join(', ')} }`,
  });
}

function known(call: Call, name: string, value: Value): unknown {
  if (value.kind === 'host') return value.value;
  if (value.kind === 'scalar' && isLiteral(value.expr)) return value.expr.value;
  return fail('K342', call.pos, `the option ${name} of ${spelled(call.name)} must be known at compile time`, {
    help: 'write it as a literal, or capture a constant',
  });
}
