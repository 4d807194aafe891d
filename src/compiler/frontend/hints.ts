/**
 * What partial evaluation learns too late: that a variable read in a loop is given no value, or an object, further down; that an object
 * is assigned to; that a variable holds several objects by turns; that an array is stored to. It starts again and is told.
 */
import type { Pos, SourceText } from '../source.ts';
import type { Binding, TupleValue, Value, View } from './values.ts';

/** Thrown to start again. */
export class Reconsider extends Error {}

export class Hints {
  readonly #shapes = new Map<string, Value | undefined>();
  readonly #changed = new Set<string>();
  readonly #boxes = new Set<string>();
  readonly #sources = new Map<SourceText, number>();
  /** What was found out makes this evaluation void: what it gives, and errors as well. */
  stale = false;

  /** A name for a place of the program, by the calls that lead there. */
  site(pos: Pos): string {
    let source = this.#sources.get(pos.source);
    if (source === undefined) {
      source = this.#sources.size;
      this.#sources.set(pos.source, source);
    }
    return `${source}:${pos.start}${pos.caller === undefined ? '' : `<${this.site(pos.caller)}`}`;
  }

  /** Whether objects made there are assigned to. */
  isChanged(site: string): boolean {
    return this.#changed.has(site);
  }

  change(site: string): void {
    if (this.#changed.has(site)) return;
    this.#changed.add(site);
    this.stale = true;
  }

  /** Whether a variable holds several objects by turns, so that it has fields of its own for them. */
  isBox(binding: Binding): boolean {
    return this.#boxes.size > 0 && this.#boxes.has(key(binding));
  }

  box(binding: Binding): never {
    const id = key(binding);
    if (this.#boxes.has(id)) throw new Error(`nothing new about ${binding.name}`);
    this.#boxes.add(id);
    throw new Reconsider();
  }

  readonly #memory = new Set<object>();

  /** Whether what is made here has to be memory. */
  isMemory(site: object): boolean {
    return this.#memory.has(site);
  }

  /** Starts again with memory for what is made here. */
  useMemory(site: object): never {
    if (this.#memory.has(site)) throw new Error('this is memory already');
    this.#memory.add(site);
    throw new Reconsider();
  }
  readonly #kept = new Set<string>();

  /** Whether a name for a string is read after the element was assigned to. */
  isKept(name: string, pos: Pos): boolean {
    return this.#kept.size > 0 && this.#kept.has(`${name} ${this.site(pos)}`);
  }

  /** Starts again with a copy of what a name stands for. */
  keep(name: string, pos: Pos): never {
    const id = `${name} ${this.site(pos)}`;
    if (this.#kept.has(id)) throw new Error(`${name} is a copy already`);
    this.#kept.add(id);
    throw new Reconsider();
  }

  readonly #recursive = new Map<string, { readonly varying: Set<number>; result: Value | undefined }>();
  readonly #functions = new Map<object, number>();

  /**
   * Whether a function calls itself; which arguments are others in the calls inside, and what it returns, where that is known. `path` is its syntax
   * and that of the functions that call themselves around it.
   */
  recursion(
    path: readonly object[],
  ): { readonly varying: ReadonlySet<number>; readonly result: Value | undefined } | undefined {
    return this.#recursive.size === 0 ? undefined : this.#recursive.get(this.#pathKey(path));
  }

  /** Starts again with a stack for the calls of a function, with other arguments in them, with what they return. */
  recurses(path: readonly object[], { argument, result }: { argument?: number; result?: Value } = {}): never {
    const key = this.#pathKey(path);
    const known = this.#recursive.get(key) ?? { varying: new Set(), result: undefined };
    this.#recursive.set(key, known);
    if (argument !== undefined) known.varying.add(argument);
    if (result !== undefined) known.result = result;
    throw new Reconsider();
  }

  /** What messages and other hints know functions that call themselves by. */
  nameOf(path: readonly object[]): string {
    return this.#pathKey(path);
  }

  #pathKey(path: readonly object[]): string {
    for (const node of path) if (!this.#functions.has(node)) this.#functions.set(node, this.#functions.size);
    return path.map((node) => this.#functions.get(node)).join('<');
  }

  /** As `useMemory`, where something is stored to; what the kernel captures or is given stays as it is. */
  storeTo(site: object | undefined): void {
    if (site !== undefined && isSyntax(site) && !this.isMemory(site)) this.useMemory(site);
  }

  readonly #held = new Set<string>();

  /** Whether the arrays that variables hold by turns have to be memory. */
  holdsMemory(place: string): boolean {
    return this.#held.has(place);
  }

  /** Starts again with memory for all that variables hold by turns; returns where that is so already. */
  holdMemory(place: string | undefined): void {
    if (place === undefined || this.#held.has(place)) return;
    this.#held.add(place);
    throw new Reconsider();
  }

  /** Starts again where a tuple can be made in memory, whatever it came from. */
  beMemory({ site, place }: TupleValue): void {
    this.storeTo(site);
    this.holdMemory(place);
  }

  readonly #forms = new Map<string, View>();
  #widened = 0;

  /** The form of the arrays that variables hold by turns. */
  formAt(place: string): View | undefined {
    return this.#forms.get(place);
  }

  /** Starts again with variables that have room for arrays of a form. */
  widen(place: string, form: View): never {
    if (this.#widened++ > 1000) throw new Error(`nothing new about ${form.name}`);
    this.#forms.set(place, form);
    throw new Reconsider();
  }

  readonly #complex = new Set<string>();

  /** Whether a variable will be without a value at times. */
  vanishes(binding: Binding): boolean {
    return this.#shapes.size > 0 && this.#shapes.has(key(binding));
  }

  /** What a variable will hold. */
  shapeOf(binding: Binding): Value | undefined {
    return this.#shapes.size === 0 ? undefined : this.#shapes.get(key(binding));
  }

  /** Whether what was made here is real at first and complex further down: a variable, the result of a call. */
  isComplex({ name, pos }: Pick<Binding, 'name' | 'pos'>): boolean {
    return this.#complex.size > 0 && this.#complex.has(`${name} ${this.site(pos)}`);
  }

  /** Starts again with a complex number in the place of a real one. */
  becomesComplex({ name, pos }: Pick<Binding, 'name' | 'pos'>): never {
    const id = `${name} ${this.site(pos)}`;
    if (this.#complex.has(id)) throw new Error(`${name} is complex already`);
    this.#complex.add(id);
    throw new Reconsider();
  }

  /** Starts again with what has turned out about a variable. */
  reconsider(binding: Binding, shape: Value | undefined): never {
    const id = key(binding);
    if (this.#shapes.get(id) !== undefined || (shape === undefined && this.#shapes.has(id)))
      throw new Error(`nothing new about ${binding.name}`);
    this.#shapes.set(id, shape);
    throw new Reconsider();
  }
}

/** What the kernel itself makes, afresh for each thread; not what it captures or is given. */
export function isSyntax(site: object): boolean {
  return 'type' in site && 'start' in site;
}

/** The declaration; bindings of one that is evaluated several times are treated alike. */
function key({ name, pos }: Binding): string {
  return `${name} ${pos.start} ${pos.source.text}`;
}
