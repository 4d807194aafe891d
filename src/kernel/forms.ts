/**
 * The specialisations that one call needs, in order: a number argument that is not an integer makes a form of the kernel that takes a
 * float, one beyond 32 bits a wider form, one that only a 32-bit word holds a form of words.
 *
 * How a form is come by differs (compiled now, by a promise, or only looked up); which ones are asked for is said here alone.
 */
import type { ArgType } from '../compiler/contract.ts';
import { KernelError } from '../errors.ts';
import type { Call } from './call.ts';
import type { Specialisation } from './specialisation.ts';

export interface Form {
  readonly types: readonly ArgType[];
  readonly bits: 32 | 64;
  /** Whether the kernel may refuse it, as where it needs the number as an integer: the form before then serves. */
  readonly optional: boolean;
}

type Forms = Generator<Form, Specialisation, Specialisation | undefined>;

/** Yields the forms that a call needs, takes the specialisation of each, and returns the one to launch. */
function* formsOf({ types, typed, wide }: Call, wideShape: boolean): Forms {
  const bits = wideShape || wide ? 64 : 32;
  const first = (yield { types, bits, optional: false }) as Specialisation;
  const fractions = first.marshaller.fractions(typed);
  const found = fractions === undefined ? first : ((yield { types: fractions, bits, optional: true }) ?? first);
  if (!found.marshaller.overflows(typed)) return found;
  const wider = (yield { types: found.types, bits: 64, optional: false }) as Specialisation;
  const words = wider.marshaller.words(typed);
  return words === undefined ? wider : ((yield { types: words, bits, optional: true }) ?? wider);
}

/** The specialisation for a call, where `make` compiles a form or throws. */
export function specialisationFor(call: Call, wide: boolean, make: (form: Form) => Specialisation): Specialisation {
  const forms = formsOf(call, wide);
  let step = forms.next();
  while (step.done !== true) {
    let made: Specialisation | undefined;
    try {
      made = make(step.value);
    } catch (error) {
      if (!isRefused(step.value, error)) throw error;
    }
    step = forms.next(made);
  }
  return step.value;
}

/** As `specialisationFor`, where a form is compiled by a promise. */
export async function specialisationLater(
  call: Call,
  wide: boolean,
  make: (form: Form) => Promise<Specialisation>,
): Promise<Specialisation> {
  const forms = formsOf(call, wide);
  let step = forms.next();
  while (step.done !== true) {
    const form = step.value;
    const made = await make(form).catch((error: unknown) => {
      if (!isRefused(form, error)) throw error;
      return undefined;
    });
    step = forms.next(made);
  }
  return step.value;
}

/** Whether all that a call needs is compiled, where `find` looks a form up. */
export function isCompiled(call: Call, wide: boolean, find: (form: Form) => Specialisation | undefined): boolean {
  const forms = formsOf(call, wide);
  let step = forms.next();
  while (step.done !== true) {
    const found = find(step.value);
    if (found === undefined) return false;
    step = forms.next(found);
  }
  return true;
}

function isRefused({ optional }: Form, error: unknown): boolean {
  return optional && error instanceof KernelError;
}
