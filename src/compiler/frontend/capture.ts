/**
 * Reads a function once: its text, its tree, and the values of the names that it takes from outside.
 *
 * Values come from the `captures` given, by name or through a factory's parameter; else from the scopes that the inspector
 * shows, or, where there is no inspector, from Tsamba's own names; else from the globals. They are read when the function is, all at once, and do not follow later changes.
 */
import { capturesOf, hostOnlyOf } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import { type Attached, attachedTo } from './attached.ts';
import type { Captured, CapturedFunction } from './captured.ts';
import { fail } from './diagnostics.ts';
import { mayHaveHelpers, undoHelpers } from './es5.ts';
import { type FactoryNames, openFactory } from './factory.ts';
import { GLOBALS } from './globals.ts';
import { type ClosureScope, type InspectedFunction, inspectFunction, inspectorProblem } from './inspector.ts';
import { isClassText, isNativeText } from './parse.ts';
import { rememberLocation, sourceOf } from './positions.ts';
import { publicValue } from './public-names.ts';
import { didYouMean } from './suggest.ts';
import { ownSyntaxOf, syntaxOf } from './syntax.ts';

type AnyFunction = (...args: never[]) => unknown;

export interface CaptureOptions {
  /** The values of captured names, by name; or what the factory `({ cuda, gain }) => (y) => {…}` is called with. */
  readonly captures?: Readonly<Record<string, unknown>> | undefined;
  /** The kernel's name in messages; else the function's own. */
  readonly name?: string | undefined;
  /** Called when a server for development replaces the text of a function that was read. */
  readonly changed?: (() => void) | undefined;
}

/** What all functions reached from one kernel share. */
interface Reading {
  readonly captures: Readonly<Record<string, unknown>> | undefined;
  readonly functions: Map<AnyFunction, CapturedFunction>;
  readonly changed: (() => void) | undefined;
  /** The kernel itself. */
  kernel?: CapturedFunction;
}

/**
 * Reads a kernel: source, syntax tree, captured values. Throws a KernelError for functions that cannot be read. Names that
 * cannot be resolved throw when they are looked up, so that a name in dead code does no harm.
 */
export function captureFunction(fn: AnyFunction, options: CaptureOptions = {}): CapturedFunction {
  // A copy without a prototype: what a factory takes out of it is what was given, or missing.
  if (isClassText(Function.prototype.toString.call(fn))) {
    const source = sourceOf(fn, options.name ?? fn.name);
    fail('K003', { source, start: 0, end: 5 }, `"${source.name}" is a class, and a kernel is a function`, {
      help: 'write a function, which may make objects of the class: new V3(x, y, z)',
    });
  }
  const captures = options.captures && Object.assign(Object.create(null) as Record<string, unknown>, options.captures);
  const reading: Reading = { captures, functions: new Map(), changed: options.changed };
  if (captures === undefined) return readFunction(fn, reading, undefined, options.name);
  const opened = openFactory(fn, captures, options.name);
  if (opened === undefined) return readFunction(fn, reading, new Map(Object.entries(captures)), options.name);
  return readFunction(opened.inner, reading, opened.names, options.name ?? (opened.inner.name || fn.name));
}

function readFunction(
  fn: AnyFunction,
  reading: Reading,
  explicit: FactoryNames | undefined,
  name: string | undefined,
  caller?: Pos,
): CapturedFunction {
  const attached = attachedTo(fn);
  const source = sourceOf(fn, name ?? (attached?.name || fn.name));
  let { node, free } = syntaxOf(source, caller);
  if (reading.changed !== undefined) attached?.readers?.add(reading.changed);
  // What a plugin has left says all that the inspector would, and knows the author's names. In a bundle of megabytes the inspector takes milliseconds.
  const inspected = attached === undefined && free.size > 0 ? inspectFunction(fn) : undefined;
  if (inspected !== undefined) rememberLocation(source, inspected.location);
  const resolver = new Resolver(explicit, attached, inspected, reading.captures);
  const captures = new Map<string, Captured>();
  for (const wanted of free.keys()) captures.set(wanted, resolver.resolve(wanted));
  if (mayHaveHelpers(source.text, captures.values())) {
    ({ node, free } = ownSyntaxOf(source, caller));
    undoHelpers(node, free, captures);
  }
  // A function expression may call itself by its own name, which no scope outside it shows.
  if (node.id && !captures.has(node.id.name)) captures.set(node.id.name, { found: true, value: fn });
  // The scopes themselves must not outlive this: they hold every variable of the module.
  const seen = inspected !== undefined || attached !== undefined || free.size === 0;
  const hints = new Map<string, string | undefined>();
  for (const [wanted, { found }] of captures) if (!found) hints.set(wanted, didYouMean(wanted, resolver.knownNames()));
  const read: CapturedFunction = {
    source,
    node,
    fn,
    captures,
    lookup(wanted, pos) {
      const captured = captures.get(wanted) ?? globalValue(wanted, undefined);
      if (!captured.found)
        failMissing(wanted, pos, hints.get(wanted), seen ? undefined : inPlace([...hints.keys()], reading));
      if (captured.value === undefined && wanted !== 'undefined') failUndefined(wanted, pos);
      return captured.value;
    },
    read(called, pos) {
      return readCalled(called, pos, reading);
    },
  };
  reading.kernel ??= read;
  return read;
}

/** A device function; the error of one that cannot be read points at where it is used. */
function readCalled(fn: AnyFunction, pos: Pos, reading: Reading): CapturedFunction {
  const known = reading.functions.get(fn);
  if (known !== undefined) return known;
  const host = hostOnlyOf(fn);
  if (host !== undefined)
    fail('K002', pos, `${host.what} is for the host and cannot be called in a kernel`, { help: host.help });
  if (isNativeText(Function.prototype.toString.call(fn))) failNative(fn, pos);
  const made = capturesOf(fn);
  const names = made && openFactory(made.factory, made.captures, fn.name)?.names;
  const read = readFunction(made?.body ?? fn, reading, names, undefined, pos);
  reading.functions.set(fn, read);
  return read;
}

function failNative(fn: AnyFunction, pos: Pos): never {
  if (fn.name.startsWith('bound ')) {
    fail('K002', pos, `${fn.name.slice(6) || 'this function'} was made by bind(): its source cannot be read`, {
      help: 'call the function itself, and pass what was bound as arguments',
    });
  }
  fail('K002', pos, `${fn.name || 'this'} is a native function, which runs on the host only`, {
    help: 'write a function of your own, or use its counterpart in Math or cuda',
  });
}

/** Resolves the free names of one function, and is dropped afterwards, as scopes keep all their variables alive. */
class Resolver {
  readonly #explicit: FactoryNames | undefined;
  readonly #attached: Attached | undefined;
  readonly #scopes: readonly ClosureScope[];
  readonly #global: object | undefined;
  readonly #captures: Readonly<Record<string, unknown>> | undefined;
  /** Nobody can see the scopes. */
  readonly #blind: boolean;

  constructor(
    explicit: FactoryNames | undefined,
    attached: Attached | undefined,
    inspected: InspectedFunction | undefined,
    captures: Readonly<Record<string, unknown>> | undefined,
  ) {
    this.#explicit = explicit;
    this.#attached = attached;
    this.#captures = captures;
    this.#blind = inspected === undefined;
    const scopes = inspected?.scopes ?? [];
    this.#scopes = scopes.filter(({ description }) => description !== 'Global');
    this.#global = scopes.find(({ description }) => description === 'Global')?.variables;
  }

  resolve(name: string): Captured {
    const given = this.#explicit?.get(name);
    if (given !== undefined || this.#explicit?.has(name)) return { found: true, value: given };
    const written = this.#attached === undefined ? undefined : attachedValue(this.#attached, name);
    if (written !== undefined) return written;
    for (const { variables } of this.#scopes) {
      if (Object.hasOwn(variables, name)) return { found: true, value: valueIn(variables, name) };
    }
    const captures = this.#captures;
    // Without an inspector a device function sees what was captured explicitly, by name.
    if (captures !== undefined && Object.hasOwn(captures, name)) return { found: true, value: captures[name] };
    const own = this.#blind ? publicValue(name) : undefined;
    if (own === undefined && this.#blind && isOfPage(name)) return { found: false };
    return own ?? globalValue(name, this.#global);
  }

  knownNames(): string[] {
    const own = this.#scopes.flatMap(({ variables }) => Object.keys(variables));
    const written = Object.keys(this.#attached?.names ?? {});
    return [...(this.#explicit?.keys() ?? []), ...written, ...own, ...GLOBALS];
  }
}

/**
 * The value of a name that a plugin found; undefined where it found none of that name, or one that nothing declares (a global, perhaps of the bundler).
 * A variable that has no value yet is there and undefined.
 */
function attachedValue({ names }: Attached, name: string): Captured | undefined {
  if (!Object.hasOwn(names, name)) return undefined;
  try {
    return { found: true, value: names[name]?.() };
  } catch (error) {
    return /is not defined|find variable/.test(String(error)) ? undefined : { found: true, value: undefined };
  }
}

/** A variable's value; undefined before its declaration has run, where newer versions of V8 throw instead. */
function valueIn(variables: object, name: string): unknown {
  try {
    return Reflect.get(variables, name);
  } catch {
    return undefined;
  }
}

/** Whether a global name is the runtime's own, such as `length` and `name` of a page: what the author means by it is more likely a variable that cannot be seen. */
function isOfPage(name: string): boolean {
  if (GLOBALS.includes(name) || !(name in globalThis)) return false;
  return Object.getOwnPropertyDescriptor(globalThis, name)?.get !== undefined || !Object.hasOwn(globalThis, name);
}

function globalValue(name: string, realm: object | undefined): Captured {
  const from = GLOBALS.includes(name) ? globalThis : (realm ?? globalThis);
  return name in from ? { found: true, value: Reflect.get(from, name) } : { found: false };
}

/** The call of `jit` that would do where scopes cannot be seen: the kernel as it begins, and what it captures. */
function inPlace(missing: readonly string[], { captures, kernel }: Reading): string {
  const head = kernel?.source.text.slice(0, kernel.node.body.start).trim().replace(/\s+/g, ' ');
  const names = [...Object.keys(captures ?? {}), ...missing.filter((name) => name !== 'arguments')];
  return `${captures === undefined ? '' : 'add it: '}cuda.jit(${head} { … }, { captures: { ${names.join(', ')} } })`;
}

/** Names that bundlers give to what is imported: no author can name them in `captures`. */
const OF_BUNDLERS = /^(?:__TURBOPACK__|__WEBPACK_|_*webpack_|__vite_|__vi_import|__rspack)/i;

const PLUGIN =
  "use Tsamba's plugin for your bundler (tsamba/vite, tsamba/webpack, tsamba/esbuild and others; for Next.js a rule of turbopack), which records what kernels capture: docs/bundlers.md#plugins";

/** `remedy` is given where the scopes of a function cannot be seen. */
function failMissing(name: string, pos: Pos, hint: string | undefined, remedy: string | undefined): never {
  if (name === 'arguments') {
    fail('K010', pos, 'a kernel has no arguments object', { help: 'name the parameters and use those' });
  }
  if (remedy !== undefined) {
    if (OF_BUNDLERS.test(name)) {
      fail('K010', pos, 'this name was made by a bundler, and what it stands for cannot be seen here', {
        help: PLUGIN,
      });
    }
    const why = inspectorProblem() ?? 'no inspector';
    fail('K010', pos, `${name} is neither captured by name nor a global, and what it is cannot be seen here (${why})`, {
      help: `${remedy}; in code that is bundled or minified write ({ ${name} }) => (…) => { … }, or ${PLUGIN}`,
    });
  }
  const explicit = `cuda.jit(({ ${name} }) => (…) => { … }, { captures: { ${name} } })`;
  const isOurs = publicValue(name)?.found === true;
  const imported = `is it imported as a type? write import { ${name} } from 'tsamba', without the word type`;
  fail('K010', pos, `${name} is not defined`, {
    help:
      hint ??
      (isOurs ? imported : undefined) ??
      `define it before the first launch, or pass it explicitly: ${explicit}`,
  });
}

function failUndefined(name: string, pos: Pos): never {
  fail('K011', pos, `${name} is undefined: it had no value yet when the kernel was first launched`, {
    help: `captured values are read at the first launch, once: move the declaration of ${name} above it, or assign ${name} before`,
  });
}
