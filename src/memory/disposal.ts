/**
 * Where an object was disposed or allocated, and the error for using it afterwards.
 *
 * A site is a captured stack that is only turned into text when somebody reads it, so that disposing stays cheap.
 */
import { TsambaRangeError } from '../errors.ts';

/** A place in the user's program; `text` is worked out when it is asked for. */
export interface Site {
  readonly text: string;
}

/** Frames of this file, which the capture begins with: the constructor and `captureSite`. */
const OWN_FRAMES = 2;

/** While objects are disposed by something that the user called: the place of that call. */
let shared: Site | undefined;

/** Milliseconds that captures may take at once. */
const MOST = 10;
/** Captures may take this part of the time that everything else takes. */
const PART = 0.05;
/** What took longer than this many milliseconds was the machine or the collector, not the capture. */
const LONGEST = 0.25;
/** Milliseconds that captures may take now. */
let allowance = MOST;
let lastCapture = 0;
/** What is disposed until captures may take time again. Holds no stack: that would keep alive what was disposed. */
let meanwhile: Site | undefined;

/**
 * Who called: the first frame after `skip` ones, which are the caller's and its callers' of this library. Captures take a twentieth of
 * the time at most: one is a microsecond or two, but 100 where the next frame is a loop at the top level of a large bundle. Of what is
 * disposed in between it is known after which place that was.
 */
export function captureSite(skip: number): Site {
  if (shared !== undefined) return shared;
  const start = performance.now();
  allowance = Math.min(MOST, allowance + (start - lastCapture) * PART);
  if (allowance <= 0 && meanwhile !== undefined) {
    lastCapture = start;
    return meanwhile;
  }
  const site = new CapturedSite(OWN_FRAMES + skip, 1);
  lastCapture = performance.now();
  allowance -= Math.min(lastCapture - start, LONGEST);
  if (allowance <= 0) {
    meanwhile = {
      text: `${site.text} or soon after (so much was disposed in so little time that not every place was recorded)`,
    };
    lastCapture = performance.now();
    allowance -= Math.min(lastCapture - start, MOST);
  }
  return site;
}

/** The call stack, `depth` frames of it, whatever that costs: for those who asked to be told. */
export function captureStack(depth: number): Site {
  return new CapturedSite(OWN_FRAMES, depth);
}

/** Runs a body whose disposals all have one place, `site`. */
export function atSite(site: Site, body: () => void): void {
  const outer = shared;
  shared = site;
  try {
    body();
  } finally {
    shared = outer;
  }
}

/** Where that was disposed which only a call had. */
const UNSEEN: Site = { text: 'the end of the call that made it' };

/** Disposes of what a call has made for itself. Nobody else has it to ask where that was, so no place is captured: in bundles captures may take longer than all else in a call. */
export function disposeUnseen(made: readonly { dispose(): void }[]): void {
  if (made.length === 0) return;
  atSite(UNSEEN, () => {
    for (const one of made) one.dispose();
  });
}

class CapturedSite implements Site {
  /** A plain Error: V8 makes one in two thirds of the time that `captureStackTrace` takes. */
  readonly #error: Error;
  readonly #skip: number;

  constructor(skip: number, depth: number) {
    this.#skip = skip;
    const { stackTraceLimit } = Error;
    limitStack(skip + depth);
    this.#error = new Error();
    limitStack(stackTraceLimit);
  }

  get text(): string {
    return firstUserFrame(this.#error.stack ?? '', this.#skip);
  }
}

function limitStack(frames: number): void {
  try {
    Error.stackTraceLimit = frames;
  } catch {
    // The built-ins are frozen: stacks are as long as they are.
  }
}

/**
 * The first frame outside Tsamba itself, as `file:line:column`. In a bundle without a source map the library's frames cannot be told from
 * the program's: there it is all of them, so that the program's are neither hidden nor taken for the library's.
 */
function firstUserFrame(stack: string, skip: number): string {
  const frames = stack
    .split('\n')
    .slice(1 + skip)
    .map((line) => line.trim().replace(/^at /, ''))
    .filter((frame) => !/(?:^|\()node:/.test(frame));
  own ??= ownFolders();
  const outside = frames.filter((frame) => !isOwnFrame(frame));
  if (own.length === 0 && outside.length === frames.length && frames.length > 1) return frames.join(', called at ');
  return outside[0] ?? frames[0] ?? 'an unknown place';
}

/** Where a bundle's source map, or an installed package, leads. */
const INSTALLED = '/node_modules/tsamba/';
/** Where this file lies, in the sources and as it is built. In a bundle it is part of another file, which says nothing of folders. */
const LAYOUT = /^(.*[/\\])(?:dist[/\\](?:cjs[/\\])?chunks[/\\][^/\\]+\.js|src[/\\]memory[/\\]disposal\.ts)$/;

let own: readonly string[] | undefined;

/** The folders of this library, as frames spell them: what runs, and what source maps (tsx, `--enable-source-maps`) say was written. */
function ownFolders(): readonly string[] {
  const url: string | undefined = import.meta.url;
  const [, root] = LAYOUT.exec(url ?? (typeof __filename === 'string' ? __filename : '')) ?? [];
  if (root === undefined) return [];
  const path = decodeURI(root.replace(/^file:\/\/(?:\/(?=[A-Z]:))?/i, '')).replaceAll('\\', '/');
  return [root, path].flatMap((folder) => [`${folder}dist/`, `${folder}src/`]);
}

function isOwnFrame(frame: string): boolean {
  if (/\.test\.[jt]s/.test(frame)) return false;
  const path = frame.replaceAll('\\', '/');
  return path.includes(INSTALLED) || own?.some((folder) => path.includes(folder)) === true;
}

/** The error for using something that was disposed, or whose context is gone. */
export function disposedError(what: string, site: Site | undefined, remedy: string): TsambaRangeError {
  const where = site === undefined ? '' : ` at ${site.text}`;
  return new TsambaRangeError('E_DISPOSED', `this ${what} was disposed${where}; ${remedy}`);
}
