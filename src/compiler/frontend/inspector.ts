/**
 * What Node's inspector knows of a function: the variables it closes over and where it stands.
 *
 * The only file that talks to `node:inspector`. One session per thread, opened at the first need, with no domain left
 * enabled: reading a closure takes about 0.1 ms and running code is not slowed. Where there is no inspector (browsers,
 * Bun, `--permission` without `--allow-inspector`) everything here answers `undefined`.
 */
import type { Runtime, Session } from 'node:inspector';
import { findNodeModule, isPage } from '../../host/index.ts';

/** One scope that a function sees, innermost first in lists. `variables` has no prototype except for globals. */
export interface ClosureScope {
  /** V8's word for it: `Block`, `Closure (name)`, `Module`, `Script`, `Global`, … */
  readonly description: string;
  readonly variables: object;
}

/** Where V8 places a function: 0-based; the parenthesis of its parameter list, or the start of an arrow function. */
export interface ScriptLocation {
  readonly scriptId: string;
  readonly line: number;
  readonly column: number;
}

export interface InspectedFunction {
  readonly scopes: readonly ClosureScope[];
  readonly location: ScriptLocation | undefined;
}

/** A script as V8 loaded it. */
export interface ScriptInfo {
  readonly url: string;
  /** The value of its `sourceMappingURL` comment, or `''`. */
  readonly sourceMapUrl: string;
  readonly text: string;
}

type Post = (method: string, params?: object) => unknown;

interface Channel {
  readonly session: Session;
  readonly post: Post;
  /** An object of ours, by which live values come and go; protocol messages carry only copies. */
  readonly holder: { value: unknown };
  readonly holderId: string;
}

type Connection = { readonly channel: Channel } | { readonly reason: string };

let connection: Connection | undefined;

/** The handles of readings, so that they can be released together. */
const GROUP = 'tsamba.reading';

const KEY: unique symbol = Symbol.for('tsamba.inspector') as never;

function connect(): Connection {
  try {
    const inspector = findNodeModule('node:inspector');
    if (inspector === undefined) return { reason: `${isPage() ? 'in a page' : 'here'} there is no node:inspector` };
    const session = new inspector.Session();
    session.connect();
    const post: Post = (method, params) => {
      // In-thread sessions answer before `post` returns.
      let failure: Error | null = null;
      let result: unknown;
      session.post(method, params, (error, value) => {
        failure = error;
        result = value;
      });
      if (failure !== null) throw failure;
      return result;
    };
    // The protocol evaluates in the main realm, whose `Object` need not be ours (Jest, vm contexts); the session's is.
    const mainObject = realmObject(session);
    const holder: { value: unknown } = { value: undefined };
    // Frozen intrinsics leave the global object.
    const [place, name] = Object.isExtensible(mainObject) ? [mainObject, 'Object'] : [globalThis, 'globalThis'];
    Object.defineProperty(place, KEY, { value: holder, configurable: true });
    const expression = `${name}[Symbol.for('tsamba.inspector')]`;
    const answer = post('Runtime.evaluate', { expression }) as Runtime.EvaluateReturnType | undefined;
    Reflect.deleteProperty(place, KEY);
    // Bun's and Deno's answer later, or not at all.
    if (answer === undefined) return { reason: 'node:inspector does not answer here' };
    const { result } = answer;
    if (result.objectId === undefined) return { reason: 'the inspector could not reach this realm' };
    return { channel: { session, post, holder, holderId: result.objectId } };
  } catch (error) {
    return { reason: `node:inspector refused (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** The `Object` constructor of the realm that an object comes from. */
function realmObject(of: object): object {
  let at = of;
  for (let up = Reflect.getPrototypeOf(at); up !== null; up = Reflect.getPrototypeOf(at)) at = up;
  return at.constructor;
}

function channel(): Channel | undefined {
  connection ??= connect();
  return 'channel' in connection ? connection.channel : undefined;
}

/** Why closures cannot be read here, or undefined when they can. */
export function inspectorProblem(): string | undefined {
  connection ??= connect();
  return 'reason' in connection ? connection.reason : undefined;
}

/** The scopes and the place of a function; undefined where there is no inspector. */
export function inspectFunction(fn: (...args: never[]) => unknown): InspectedFunction | undefined {
  const open = channel();
  if (open === undefined) return undefined;
  const { holder, holderId, post } = open;
  try {
    holder.value = fn;
    const handed = post('Runtime.callFunctionOn', {
      objectId: holderId,
      functionDeclaration: 'function () { return this.value; }',
      objectGroup: GROUP,
    }) as Runtime.CallFunctionOnReturnType;
    const objectId = handed.result.objectId;
    if (objectId === undefined) return undefined;
    const answer = post('Runtime.getProperties', { objectId, ownProperties: true });
    const { internalProperties = [] } = answer as Runtime.GetPropertiesReturnType;
    const internal = (name: string) => internalProperties.find((property) => property.name === name)?.value;
    return {
      scopes: readScopes(open, internal('[[Scopes]]')?.objectId),
      location: locationOf(internal('[[FunctionLocation]]')),
    };
  } finally {
    holder.value = undefined;
    releaseSoon(open);
  }
}

let releasing = false;

/**
 * Until released, the protocol's handles keep the functions and all that they close over alive. One message, when this turn of the program is
 * over, releases those of all that it has read.
 */
function releaseSoon({ post }: Channel): void {
  if (releasing) return;
  releasing = true;
  Promise.resolve().then(() => {
    releasing = false;
    post('Runtime.releaseObjectGroup', { objectGroup: GROUP });
  });
}

function readScopes({ holder, holderId, post }: Channel, scopesId: string | undefined): ClosureScope[] {
  if (scopesId === undefined) return [];
  post('Runtime.callFunctionOn', {
    objectId: holderId,
    functionDeclaration: 'function (scopes) { this.value = scopes; }',
    arguments: [{ objectId: scopesId }],
  });
  const scopes: ClosureScope[] = [];
  for (const entry of Object.values(holder.value as Record<string, unknown>)) {
    const { description, object } = entry as { description?: unknown; object?: unknown };
    if (typeof object === 'object' && object !== null) {
      scopes.push({ description: String(description), variables: object });
    }
  }
  return scopes;
}

function locationOf(value: Runtime.RemoteObject | undefined): ScriptLocation | undefined {
  const at = value?.value as { scriptId?: unknown; lineNumber?: unknown; columnNumber?: unknown } | undefined;
  if (typeof at?.scriptId !== 'string' || typeof at.lineNumber !== 'number') return undefined;
  return {
    scriptId: at.scriptId,
    line: at.lineNumber,
    column: typeof at.columnNumber === 'number' ? at.columnNumber : 0,
  };
}

/**
 * URL, source map address and text of a script. Enables the debugger domain for a moment (about 10 ms, as V8 reports
 * every script it knows), so this is for error messages and inspection only.
 */
export function inspectScript(scriptId: string): ScriptInfo | undefined {
  const open = channel();
  if (open === undefined) return undefined;
  let found: { url: string; sourceMapUrl: string } | undefined;
  const listener = ({ params }: { params: { scriptId: string; url: string; sourceMapURL?: string } }) => {
    if (params.scriptId === scriptId) found = { url: params.url, sourceMapUrl: params.sourceMapURL ?? '' };
  };
  open.session.on('Debugger.scriptParsed', listener);
  try {
    open.post('Debugger.enable');
    const { scriptSource } = open.post('Debugger.getScriptSource', { scriptId }) as { scriptSource: string };
    return found === undefined ? undefined : { ...found, text: scriptSource };
  } catch {
    return undefined; // The script is gone; its function cannot be, so this is a V8 that answers differently.
  } finally {
    open.post('Debugger.disable');
    open.session.off('Debugger.scriptParsed', listener);
  }
}
