/**
 * From a function's text to its syntax tree, whatever kind of function it was: arrow, function, declaration, method.
 *
 * Positions in the tree are offsets into `source.text`. The tree has been cleaned of what coverage tools and directives
 * add. Functions that cannot be kernels for their kind alone (native, bound, class, async, generator) end here, with
 * what to write instead.
 */
import type { AnyNode, Node, Options } from 'acorn';
import type { Pos, SourceText } from '../source.ts';
import type { FunctionNode } from './captured.ts';
import { clean } from './clean.ts';
import { fail } from './diagnostics.ts';
import { parse, parseExpressionAt } from './parser.ts';
import { refuseNesting } from './too-deep.ts';
import { forEachChild, walk } from './walk.ts';

const OPTIONS: Options = { ecmaVersion: 'latest', sourceType: 'script' };

/** Parses the text of one function, which `caller` uses. Throws a KernelError (K001 … K006). */
export function parseFunction(source: SourceText, caller?: Pos): FunctionNode {
  const at: At = (start, end) => ({ source, start, end, caller });
  if (isNativeText(source.text)) refuseNative(source, at);
  if (nestingOf(source.text) > MAX_NESTING) refuseNesting(at(0, 1));
  const node = parseNode(source, at);
  refuseDepth(node, at);
  refuseKinds(source, node, at);
  clean(node, source.text);
  return node;
}

/** Whether a function's text is what engines show of their own and of bound functions. */
export function isNativeText(text: string): boolean {
  return /\{\s*\[native code\]\s*\}\s*$/.test(text);
}

/** Whether a function's text is that of a class. */
export function isClassText(text: string): boolean {
  return /^class\b/.test(text);
}

type At = (start: number, end: number) => Pos;

function refuseNative(source: SourceText, at: At): never {
  const whole = at(0, source.text.length);
  if (source.name.startsWith('bound ')) {
    fail('K002', whole, `${quoted(source)} was made by bind(): its source cannot be read`, {
      help: 'pass the function itself, and give what was bound as arguments or as captured variables',
    });
  }
  fail('K002', whole, `${quoted(source)} is a native function: it has no source to compile`, {
    help: 'write a function of your own, or use its counterpart in Math or cuda',
  });
}

function quoted(source: SourceText): string {
  return source.name === '' ? 'this function' : `"${source.name}"`;
}

function parseNode(source: SourceText, at: At): FunctionNode {
  const { text } = source;
  let problem: unknown;
  try {
    const node = parseExpressionAt(text, 0, OPTIONS) as AnyNode;
    // `get(a) {…}` parses as a call that stops before the brace: that is a method.
    if (isFunction(node) && node.end >= text.trimEnd().length) return node;
    if (node.type === 'ClassExpression') return classFunction(node);
  } catch (error) {
    problem = error;
  }
  try {
    return parseMethod(text);
  } catch (error) {
    // For a text that is no method at all, what the first attempt said is nearer the truth.
    const cause = furthest(problem, error);
    const start = Math.min(cause.at, text.length);
    fail('K001', at(start, start + 1), `the source of ${quoted(source)} does not parse: ${cause.message}`, {
      help: 'kernels are read by toString(): a build step that rewrites it must leave valid JavaScript',
      cause: cause.error,
    });
  }
}

function isFunction(node: AnyNode): node is AnyNode & FunctionNode {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

/** A class, as the function that gives it. */
function classFunction(body: Extract<AnyNode, { type: 'ClassExpression' }>): FunctionNode {
  const { start, end } = body;
  const flags = { expression: true, generator: false, async: false };
  return { type: 'ArrowFunctionExpression', start, end, params: [], body, ...flags };
}

const WRAP = '({';

/** The text of a method, `foo(a) {…}`, is only valid in an object. */
function parseMethod(text: string): FunctionNode {
  const program = parse(`${WRAP}${text}})`, OPTIONS);
  const statement = program.body[0] as AnyNode | undefined;
  const object = statement?.type === 'ExpressionStatement' ? (statement.expression as AnyNode) : undefined;
  const property = object?.type === 'ObjectExpression' ? (object.properties[0] as AnyNode) : undefined;
  const value = property?.type === 'Property' ? (property.value as AnyNode) : undefined;
  if (value === undefined || !isFunction(value)) throw new SyntaxError('it is not a function');
  walk(value, (node) => {
    node.start -= WRAP.length;
    node.end -= WRAP.length;
    return true;
  });
  return value;
}

interface Problem {
  readonly error: unknown;
  readonly message: string;
  readonly at: number;
}

function furthest(asExpression: unknown, asMethod: unknown): Problem {
  const first = problemOf(asExpression, 0);
  const second = problemOf(asMethod, WRAP.length);
  return first !== undefined && (second === undefined || first.at >= second.at) ? first : (second as Problem);
}

function problemOf(error: unknown, shift: number): Problem | undefined {
  if (error === undefined) return undefined;
  const pos: unknown = (error as { pos?: unknown }).pos;
  const message = error instanceof Error ? error.message : String(error);
  return { error, message: message.replace(/ \(\d+:\d+\)$/, ''), at: typeof pos === 'number' ? pos - shift : 0 };
}

/** Levels of syntax that the compiler walks: a sum of as many terms, a third as many blocks. */
const MAX_DEPTH = 900;

/**
 * Refuses what is nested deeper than the stack allows to walk, before anything recursive has a go at it: an overflow in the
 * middle of a pass can take the whole process down. Keeps a stack of its own.
 */
function refuseDepth(node: FunctionNode, at: At): void {
  const pending: [Node, number][] = [[node, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [child, depth] = next;
    if (depth > MAX_DEPTH) refuseNesting(at(child.start, child.start + 1));
    forEachChild(child, (below) => {
      pending.push([below, depth + 1]);
    });
  }
}

/** What `nestingOf` may give: the parser recurses once or twice for each operator of a chain and each bracket. */
const MAX_NESTING = 2_000;

/** What a bracket counts, in operators. */
const BRACKET = 3;

/**
 * An upper bound of how deep the syntax of a text can be, by its brackets and the operators between commas and semicolons. A
 * scan by hand: the parser itself must not run out of stack, where V8 may end the process (compiling a regular expression).
 */
function nestingOf(text: string): number {
  const chains = [0];
  let [depth, most] = [0, 0];
  for (let k = 0; k < text.length; k++) {
    const c = text[k] ?? '';
    if (c === '/' && text[k + 1] === '/') k = endOf(text, '\n', k);
    else if (c === '/' && text[k + 1] === '*') k = endOf(text, '*/', k + 2);
    else if (c === '(' || c === '[' || c === '{') {
      chains.push(0);
      depth += BRACKET;
    } else if (c === ')' || c === ']' || c === '}') {
      if (chains.length > 1) depth -= BRACKET + (chains.pop() ?? 0);
    } else if (c === ',' || c === ';') {
      depth -= chains[chains.length - 1] ?? 0;
      chains[chains.length - 1] = 0;
    } else if ('+-*/%&|^<>=?:!~'.includes(c)) {
      chains[chains.length - 1] = (chains[chains.length - 1] ?? 0) + 1;
      depth++;
    }
    if (depth > most) most = depth;
  }
  return most;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}

function refuseKinds(source: SourceText, node: FunctionNode, at: At): void {
  const head = at(0, Math.max(1, node.body.start));
  if (node.generator) {
    fail('K005', head, `${quoted(source)} is a generator function, and a kernel is a plain function`, {
      help: 'remove the *: each thread runs the kernel from start to end',
    });
  }
  if (node.async) {
    fail('K004', head, `${quoted(source)} is an async function, and a kernel is a plain function`, {
      help: 'remove async: a kernel never waits for the host. Await on the host, before or after the launch',
    });
  }
}
