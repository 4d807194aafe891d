/**
 * Leaves on each device function of a module what the compiler wants to know of it (`compiler/frontend/attached.ts`).
 *
 * A function stays the function that it is, `f` becomes `__tsamba$(f, …)`: nothing is renamed and no line moves. The names that it takes from outside are
 * handed over as functions, `{ gain: () => gain }`, which follow whatever bundlers and minifiers do to the variable; its text is kept as it was.
 */
import { type Program, parse } from 'acorn';
import type { Found } from './functions.ts';
import { findFunctions } from './functions.ts';
import { cutOut, type Insertion, identity, inOrder, type Lines, type RawMap, shifted, write } from './mappings.ts';
import { type Members, membersOf } from './members.ts';
import { scan } from './scan.ts';

export interface TransformOptions {
  /** The name of the author's file in messages. */
  readonly file: string;
  /** Where the code comes from in that file; `'itself'` where it is that file; undefined where nobody knows. */
  readonly origin: Lines | 'itself' | undefined;
  /** For a server that replaces texts: gives functions numbers, and adds what listens. */
  readonly hot?: boolean | undefined;
  /** The members of `cuda`, where a module can import those that it uses (`members.ts`). */
  readonly members?: ReadonlySet<string> | undefined;
}

/** A function as it was left, for a server to tell what has changed. */
export interface LeftFunction {
  readonly name: string;
  readonly text: string;
  readonly map: string;
  readonly free: readonly string[];
  /** The host cannot call it. */
  readonly argument: boolean;
}

export interface Transformed {
  readonly code: string;
  /** Of what came in, moved by what was put in. */
  mapTo(lines: Lines): Lines;
  readonly functions: readonly LeftFunction[];
  /** The module without the functions that the host cannot call. */
  readonly skeleton: string;
}

/** Whether a text may be worth parsing. */
export function mayMatter(code: string): boolean {
  return /\btsamba\b|\bjit\b|vectorize\b/.test(code) || (/\bexport\b/.test(code) && /=>|\bfunction\b/.test(code));
}

/** The module with what was left on its functions; undefined where it has none. Throws the parser's error for what is no JavaScript. */
export function transformModule(code: string, options: TransformOptions): Transformed | undefined {
  if (!mayMatter(code) || code.includes('Symbol.for("tsamba.source")')) return undefined;
  const program = parseModule(code);
  const found = findFunctions(program, scan(program));
  const split = options.members === undefined ? [] : membersOf(program, options.members);
  const objects = split.filter(({ isObject }) => isObject);
  if (found.length === 0 && objects.length === 0) return undefined;
  const helper = unusedName(code);
  const apart = apartFrom(split, found, helper, code);
  const lines = options.origin === 'itself' ? identity(code) : options.origin;
  const functions = found.map(({ node: { start, end }, name, free, argument }) => {
    const map = lines === undefined ? '' : cutOut(lines, code, start, end);
    return { name, text: code.slice(start, end), map, free, argument };
  });
  const insertions = found.flatMap((one, id) =>
    insertionsFor(one, functions[id] as LeftFunction, options.hot === true ? id : undefined, helper, apart.captured),
  );
  insertions.push(...apart.insertions);
  const endings = [...(found.length > 0 ? [helperText(helper, options.file, options.hot === true)] : []), apart.ending];
  return {
    code: `${insert(code, insertions)}\n${endings.join('\n')}\n`,
    mapTo: (given) => shifted(given, code, insertions),
    functions,
    skeleton: skeletonOf(code, found),
  };
}

function parseModule(code: string): Program {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const;
  try {
    return parse(code, { ...options, sourceType: 'module' });
  } catch (error) {
    try {
      return parse(code, { ...options, sourceType: 'script' });
    } catch {
      throw error;
    }
  }
}

function unusedName(code: string): string {
  let name = '__tsamba$';
  while (code.includes(name)) name += '$';
  return name;
}

interface Apart {
  /** What a kernel captures in place of a name. */
  readonly captured: ReadonlyMap<string, string>;
  readonly insertions: readonly Insertion[];
  readonly ending: string;
}

/**
 * Has a module use members of `tsamba/cuda` where it has used those of the object: `cuda.jit` becomes `cuda$.jit`, and the import of `cuda` is used no more. What kernels capture as `cuda` is an object
 * of the members that kernels name, made once: it is compared.
 */
function apartFrom(split: readonly Members[], found: readonly Found[], helper: string, code: string): Apart {
  const captured = new Map<string, string>();
  const insertions: Insertion[] = [];
  const lines: string[] = [];
  for (const [k, { local, isObject, uses }] of split.entries()) {
    let namespace = local;
    if (isObject) {
      while (code.includes(namespace)) namespace += '$';
      const suffix = namespace.slice(local.length);
      insertions.push(...uses.map(({ end }) => ({ at: end, text: suffix, order: 0 })));
      lines.push(`import * as ${namespace} from "tsamba/cuda";`);
    }
    const inKernels = uses.filter(({ start, end }) => found.some(({ node }) => node.start <= start && end <= node.end));
    const names = [...new Set(inKernels.map(({ member }) => member))];
    if (names.length === 0) continue;
    const object = `{ ${names.map((name) => `${name}: ${namespace}.${name}`).join(', ')} }`;
    const name = `${helper}${k}`;
    lines.push(`function ${name}() { return ${name}.object ??= Object.freeze(${object}); }`);
    captured.set(local, `${name}()`);
  }
  return { captured, insertions, ending: lines.join(' ') };
}

function insertionsFor(
  one: Found,
  left: LeftFunction,
  id: number | undefined,
  helper: string,
  captured: ReadonlyMap<string, string>,
): Insertion[] {
  const names = one.free.map((name) => `${JSON.stringify(name)}: () => ${captured.get(name) ?? name}`);
  const rest = [...[left.name, left.text, left.map].map((text) => quoted(text)), `{ ${names.join(', ')} }`];
  if (id !== undefined) rest.push(String(id));
  if (one.statement !== undefined)
    return [{ at: one.statement, text: `;${helper}(${[one.name, ...rest].join(', ')});`, order: 0 }];
  const { start, end } = one.node;
  // What ends at one place ends from the inside out, before statements; what begins there begins from the outside in, behind them.
  return [
    { at: start, text: `/* @__PURE__ */ ${helper}(`, order: 1 / end },
    { at: end, text: `, ${rest.join(', ')})`, order: -1 - start },
  ];
}

/** A string of JavaScript, in any file. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029').replaceAll('</', '<\\/');
}

function insert(code: string, insertions: readonly Insertion[]): string {
  let [text, from] = ['', 0];
  for (const { at, text: put } of inOrder(insertions)) {
    text += code.slice(from, at) + put;
    from = at;
  }
  return text + code.slice(from);
}

/** A function declaration, which is there before everything else of the module runs. */
function helperText(helper: string, file: string, hot: boolean): string {
  const made = `{ name, text, map, names, file: ${quoted(file)}${hot ? ', readers: new Set()' : ''} }`;
  const keep = hot ? ` (${helper}.live ??= []).push([id, new WeakRef(fn[Symbol.for("tsamba.source")])]);` : '';
  const named = 'if (name && !fn.name) Object.defineProperty(fn, "name", { value: name, configurable: true });';
  const leave = `fn[Symbol.for("tsamba.source")] = ${made};${keep} ${named} return fn;`;
  const head = `function ${helper}(fn, name, text, map, names${hot ? ', id' : ''}) { ${leave} }`;
  return hot ? `${head}\n${listener(helper, file)}` : head;
}

/** Takes new texts from the server, and tells the kernels that have read the old ones. */
function listener(helper: string, file: string): string {
  return `if (import.meta.hot) import.meta.hot.on("tsamba:functions", ({ file, functions }) => {
  if (file !== ${quoted(file)}) return;
  for (const [id, ref] of ${helper}.live ?? []) {
    const [left, fresh] = [ref.deref(), functions[id]];
    if (left === undefined || (left.text === fresh.text && left.map === fresh.map)) continue;
    const changed = left.text !== fresh.text;
    Object.assign(left, fresh);
    if (changed) for (const read of [...left.readers]) read();
  }
});`;
}

function skeletonOf(code: string, found: readonly Found[]): string {
  let [text, from] = ['', 0];
  for (const { node, argument, free, statement } of found) {
    if (!argument || statement !== undefined) continue;
    text += `${code.slice(from, node.start)}\0${[...free].sort().join()}\0`;
    from = node.end;
  }
  return text + code.slice(from);
}

/** The map of a module that was transformed, as bundlers chain it: from the result to what came in. */
export function ownMap(code: string, { mapTo }: Transformed): RawMap {
  return { version: 3, sources: [''], names: [], mappings: write(mapTo(identity(code))) };
}

/** The same, but from the result to what `map` leads to. */
export function chainedMap(map: RawMap, lines: Lines, { mapTo }: Transformed): RawMap {
  return { ...map, version: 3, names: [], mappings: write(mapTo(lines)) };
}
