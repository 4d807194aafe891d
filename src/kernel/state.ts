/**
 * What a kernel is behind its public face: the function as it was read, and its specialisations.
 *
 * Reading happens once, at the first launch; compiling once for each combination of argument types, index width and device.
 * How a launch runs is `launcher.ts`.
 */
import type { ArgType, CompiledKernel, CompileOptions } from '../compiler/contract.ts';
import { captureFunction, compileKernel } from '../compiler/front.ts';
import { withAuthorNames } from '../compiler/frontend/author-names.ts';
import type { CapturedFunction } from '../compiler/frontend/captured.ts';
import { withinStack } from '../compiler/frontend/too-deep.ts';
import type { Pos } from '../compiler/source.ts';
import type { DeviceDriver, Executable, Program } from '../driver/driver.ts';
import { debugWord } from '../environment.ts';
import { TsambaTypeError } from '../errors.ts';
import { cannotWait } from '../memory/blocking.ts';
import type { Context } from '../memory/context.ts';
import { partsAreMissing, whenLoaded } from '../on-demand.ts';
import { observePromise, observing } from '../profile/observing.ts';
import { typeKey } from './args.ts';
import { type CaptureSnapshot, compareCaptures, snapshotCaptures } from './captures.ts';
import { importerOf } from './imported-captures.ts';
import { KernelName } from './naming.ts';
import { boundsCheckByEnvironment, type CheckedOptions, programOf } from './options.ts';
import { refused } from './refused.ts';
import { Specialisation } from './specialisation.ts';
import { warnDefaulted } from './warnings.ts';

/** How many specialisations are tried before arguments are typed. */
const MOST_RECENT = 4;

/** How a device compiles unless the user says otherwise. */
type DeviceDefaults = Pick<DeviceDriver, 'checkedByDefault' | 'contractByDefault'>;

type AnyFunction = (...args: never[]) => unknown;

/** What a context has of a kernel, by the types of arguments. */
interface Known {
  readonly ready: Map<string, Specialisation>;
  readonly loading: Map<string, Promise<Specialisation>>;
}

/** A specialisation that is compiled and not on the device. */
interface Plan {
  readonly compiled: CompiledKernel;
  readonly options: CompileOptions;
  readonly program: Program;
}

/** What a replaced text has done to a kernel that is still there: texts outlive kernels, and code that was compiled holds them. */
function forgetting(state: KernelState): () => void {
  const kernel = new WeakRef(state);
  return () => kernel.deref()?.forget();
}

/** The state of one kernel, shared by its launchers. */
export class KernelState {
  readonly fn: AnyFunction;
  readonly options: CheckedOptions;
  readonly naming: KernelName;
  /** All that is compiled. It refers to nothing here, so that it can be unloaded when the kernel is collected. */
  readonly specialisations: Set<Specialisation> = new Set();
  /** The specialisations of the last launches, the latest first: they are tried in this order. */
  readonly recent: Specialisation[] = [];
  hits = 0;
  misses = 0;
  /** `TSAMBA_DEBUG=sync`, `=captures`, as they were when the kernel was read. */
  debugSync = false;
  debugCaptures = false;
  #captured: CapturedFunction | undefined = undefined;
  #snapshot: CaptureSnapshot | undefined = undefined;
  #byContext = new WeakMap<Context, Known>();
  /** Goes up when what was read and compiled is forgotten. */
  #generation = 0;
  readonly #warned = new Set<string>();
  readonly #changed = forgetting(this);

  constructor(fn: AnyFunction, options: CheckedOptions) {
    this.fn = fn;
    this.options = options;
    this.naming = new KernelName(options.name, fn);
  }

  /** The name for messages. */
  get name(): string {
    return this.naming.text;
  }

  /** The function as it was read at the first call. Throws KernelError when it cannot be. */
  read(): CapturedFunction {
    if (this.#captured === undefined) {
      this.debugSync = debugWord('sync');
      this.debugCaptures = debugWord('captures');
      this.#captured = this.#capture();
      this.naming.source = this.#captured.source;
      if (this.debugCaptures) this.#snapshot = snapshotCaptures(this.#captured);
    }
    return this.#captured;
  }

  #capture(): CapturedFunction {
    const { captures } = this.options;
    return captureFunction(this.fn, { captures, name: this.naming.own, changed: this.#changed });
  }

  /** Reads the function again and throws when a captured value is another one than at the first launch. */
  checkCaptures(): void {
    this.read();
    if (this.#snapshot !== undefined) compareCaptures(this.name, this.#snapshot, this.#capture());
  }

  /** `argument 3 (`k`)`. */
  argument(i: number): string {
    const name = this.parameterNames()[i];
    return name === undefined ? `argument ${i + 1}` : `argument ${i + 1} (\`${name}\`)`;
  }

  /** The names of the kernel's parameters, for messages; undefined for patterns. */
  parameterNames(): readonly (string | undefined)[] {
    const { node, source } = this.read();
    return node.params.map((param) => {
      const target = param.type === 'AssignmentPattern' ? param.left : param;
      return target.type === 'Identifier' ? withAuthorNames(target.name, source) : undefined;
    });
  }

  /** Throws TypeError unless a launch has as many arguments as the kernel has parameters. */
  checkCount(count: number): void {
    const { node, source } = this.read();
    const { params } = node;
    if (count === params.length) return;
    const least = params.filter(
      (p) => p.type !== 'AssignmentPattern' && p.type !== 'RestElement' && !mayBeLeftOut(p, source.text),
    ).length;
    const most = params.some(({ type }) => type === 'RestElement') ? Number.POSITIVE_INFINITY : params.length;
    if (count >= least && count <= most) return;
    const names = this.parameterNames().map((name, i) => name ?? `argument ${i + 1}`);
    const takes =
      params.length === 0
        ? 'no arguments'
        : `${params.length} argument${params.length === 1 ? '' : 's'} (${names.join(', ')})`;
    throw new TsambaTypeError(
      'E_ARGUMENT_COUNT',
      `${this.name} takes ${takes}, but got ${count}${missing(names, count)}`,
    );
  }

  /** The specialisation for these types, compiled now if need be. */
  specialise(context: Context, types: readonly ArgType[], indexBits: 32 | 64): Specialisation {
    const key = keyOf(types, indexBits);
    const found = this.#find(context, key);
    if (found !== undefined) return found;
    const { current } = observing;
    // Where nothing can wait this only throws what to call instead.
    if (current === undefined || context.driver.load === undefined)
      return this.#compileAndLoad(context, types, indexBits, key);
    const doing = { kind: 'compile', name: `compile ${this.name}`, context } as const;
    return current.spend(doing, () => this.#compileAndLoad(context, types, indexBits, key));
  }

  #compileAndLoad(context: Context, types: readonly ArgType[], indexBits: 32 | 64, key: string): Specialisation {
    const plan = this.#compile(context, types, indexBits);
    const executable = withinStack(
      () => this.#pos(),
      () => this.#loadNow(context.driver, plan.program),
    );
    return this.#keep(key, this.#made(context, types, plan, executable));
  }

  /** As `specialise`, without blocking where the device compiles through promises. Two who ask for the same get the same. */
  async specialiseLater(context: Context, types: readonly ArgType[], indexBits: 32 | 64): Promise<Specialisation> {
    if (context.driver.loadLater === undefined) return this.specialise(context, types, indexBits);
    const key = keyOf(types, indexBits);
    const found = this.#find(context, key);
    if (found !== undefined) return found;
    const loading = this.#of(context).loading;
    let loaded = loading.get(key);
    if (loaded === undefined) {
      loaded = this.#loadLater(context, types, indexBits).finally(() => loading.delete(key));
      observePromise({ kind: 'compile', name: `compile ${this.name}`, context }, loaded);
      loading.set(key, loaded);
    }
    return loaded;
  }

  async #loadLater(context: Context, types: readonly ArgType[], indexBits: 32 | 64): Promise<Specialisation> {
    for (;;) {
      const plan = await whenLoaded(() => this.#compile(context, types, indexBits));
      const { driver, epoch } = context;
      const generation = this.#generation;
      const executable = await withinStack(
        () => this.#pos(),
        () => whenLoaded(() => driver.loadLater?.(plan.program) ?? this.#loadNow(driver, plan.program)),
      ).catch((error: unknown) => refused(error, driver.info.name, this.#pos()));
      if (!context.closed && epoch === context.epoch && generation === this.#generation) {
        return this.#keep(keyOf(types, indexBits), this.#made(context, types, plan, executable));
      }
      // The context was closed or reset meanwhile, or the kernel recompiled.
      executable.unload();
      context.checkOpen();
    }
  }

  /** The specialisation for these types, if it is there. */
  compiled(context: Context, types: readonly ArgType[], indexBits: 32 | 64): Specialisation | undefined {
    const found = this.#of(context).ready.get(keyOf(types, indexBits));
    return found?.stale === true ? undefined : found;
  }

  /** As `compiled`, to be used now. */
  #find(context: Context, key: string): Specialisation | undefined {
    const { ready } = this.#of(context);
    const found = ready.get(key);
    if (found === undefined) return undefined;
    if (found.stale) {
      this.specialisations.delete(found);
      ready.delete(key);
      return undefined;
    }
    this.hits++;
    this.remember(found);
    return found;
  }

  #keep(key: string, made: Specialisation): Specialisation {
    this.#of(made.context).ready.set(key, made);
    this.specialisations.add(made);
    this.misses++;
    this.remember(made);
    return made;
  }

  /** What was launched or compiled last. */
  get last(): Specialisation | undefined {
    return this.recent[0];
  }

  /** Makes a specialisation the first to be tried. */
  remember(used: Specialisation): void {
    const { recent } = this;
    const at = recent.indexOf(used);
    if (at >= 0) recent.splice(at, 1);
    else if (recent.length >= MOST_RECENT) recent.pop();
    recent.unshift(used);
  }

  #of(context: Context): Known {
    let known = this.#byContext.get(context);
    if (known === undefined) {
      known = { ready: new Map(), loading: new Map() };
      this.#byContext.set(context, known);
    }
    return known;
  }

  #compile(context: Context, types: readonly ArgType[], indexBits: 32 | 64): Plan {
    context.checkOpen();
    const { options } = this;
    const compileOptions = this.#optionsFor(context.driver, indexBits, context);
    const compiled = this.#compileOnly(types, compileOptions);
    const used = new Set(compiled.kernel.params.map((param) => param.name));
    for (const name of options.floatIsChosen ? [] : compiled.defaulted) {
      if (this.#warned.has(name) || !used.has(name)) continue;
      this.#warned.add(name);
      warnDefaulted(this.name, withAuthorNames(name, this.read().source), options.defaultFloat);
    }
    return { compiled, options: compileOptions, program: programOf(options, compiled.kernel) };
  }

  #made(
    context: Context,
    types: readonly ArgType[],
    { compiled, options }: Plan,
    executable: Executable,
  ): Specialisation {
    const stated = this.options.signatures?.length === 1;
    return new Specialisation(this.naming, context, types, compiled, options, executable, stated);
  }

  #loadNow(driver: DeviceDriver, program: Program): Executable {
    if (driver.load !== undefined) {
      try {
        return driver.load(program);
      } catch (error) {
        refused(error, driver.info.name, this.#pos());
      }
    }
    throw cannotWait(
      `${this.name} is not compiled for these arguments yet, and ${driver.info.name} compiles through promises alone`,
      `await ${this.name}.compileAsync(…) first, or await ${this.name}.launchAsync(…) instead of launch`,
    );
  }

  /** What a specialisation would be on a device with these defaults: compiled again, and not loaded. */
  compiledFor(defaults: DeviceDefaults, { types, indexBits, context }: Specialisation): CompiledKernel {
    return this.#compileOnly(types, this.#optionsFor(defaults, indexBits, context));
  }

  #compileOnly(types: readonly ArgType[], options: CompileOptions): CompiledKernel {
    return withinStack(
      () => this.#pos(),
      () => compileKernel(this.read(), types, options),
    );
  }

  #pos(): Pos {
    const { node, source } = this.read();
    return { source, start: node.start, end: node.start + 1 };
  }

  #optionsFor(defaults: DeviceDefaults, indexBits: 32 | 64, context: Context): CompileOptions {
    const { options } = this;
    return {
      name: this.naming.own,
      checked: options.boundsCheck ?? boundsCheckByEnvironment() ?? defaults.checkedByDefault,
      contract: options.contract ?? defaults.contractByDefault,
      fastMath: options.fastMath,
      debug: options.debug,
      defaultFloat: options.defaultFloat,
      indexBits,
      maxThreads: Math.min(options.launchBounds ?? Number.POSITIVE_INFINITY, context.info.limits.maxThreadsPerBlock),
      maxRecursion: options.maxRecursion,
      link: options.link,
      importArray: importerOf(context),
    };
  }

  /** Compiles the signatures, arrays of any layout as contiguous ones, which most are; where nobody can wait, begins to. */
  compileSignatures(context: Context, signatures: CheckedOptions['signatures'] = this.options.signatures): void {
    for (const { args } of signatures ?? []) {
      const types = args.map(contiguous);
      const check = (): void => {
        this.read();
        this.checkCount(args.length);
      };
      // Who launches it waits for the same, and is told of what goes wrong.
      const later = (): Promise<unknown> => this.specialiseLater(context, types, 32).catch(() => undefined);
      if (partsAreMissing()) {
        whenLoaded(check).then(later, () => undefined);
        continue;
      }
      check();
      if (context.driver.load !== undefined) this.specialise(context, types, 32);
      else later();
    }
  }

  /** Forgets what was read and compiled. */
  forget(): void {
    this.#captured = undefined;
    this.#snapshot = undefined;
    this.#generation++;
    this.recent.length = 0;
    this.#byContext = new WeakMap();
    unload(this.specialisations);
  }
}

function keyOf(types: readonly ArgType[], indexBits: 32 | 64): string {
  return `${types.map(typeKey).join(';')}|${indexBits}`;
}

/** Gives compiled code back to the devices. */
export function unload(specialisations: Set<Specialisation>): void {
  for (const specialisation of specialisations) {
    if (!specialisation.stale) specialisation.context.retire(specialisation);
  }
  specialisations.clear();
}

function contiguous(type: ArgType): ArgType {
  if (type.kind === 'tuple') return { ...type, items: type.items.map(contiguous) };
  return type.kind === 'array' && type.layout === 'A' ? { ...type, layout: 'C' } : type;
}

/** Whether a kernel asks if a parameter is there, `k ?? 1` or `k === undefined`: then it is an optional one. */
function mayBeLeftOut(param: { readonly type: string; readonly name?: string }, text: string): boolean {
  if (param.type !== 'Identifier' || param.name === undefined) return false;
  const name = param.name.replaceAll('$', '\\$');
  const nothing = '(?:undefined|null|void 0)(?![\\w$])';
  const asks = `(?<![\\w$.])${name}\\s*(?:\\?\\?|\\?\\.|[!=]==?\\s*${nothing})|${nothing}\\s*[!=]==?\\s*${name}(?![\\w$])`;
  return new RegExp(asks).test(text);
}

function missing(names: readonly string[], count: number): string {
  if (count >= names.length) return '';
  const left = names.slice(count);
  return `: ${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} missing`;
}
