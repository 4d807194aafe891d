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

/** The first frame outside Tsamba itself, as `file:line:column`; in a bundle, where all is one file, the first one. */
function firstUserFrame(stack: string, skip: number): string {
  const frames = stack
    .split('\n')
    .slice(1 + skip)
    .map((line) => line.trim().replace(/^at /, ''));
  const outside = frames.find((frame) => !isOwnFrame(frame)) ?? frames[0];
  return outside === undefined ? 'an unknown place' : outside;
}

/** Where a bundle's source map, or an installed package, leads. */
const INSTALLED = '/node_modules/tsamba/';

let own: readonly string[] | undefined;

/**
 * The folders of this library, as frames spell them: what runs, and what source maps (tsx, `--enable-source-maps`) say was written.
 * A CommonJS bundle has no `import.meta.url`.
 */
function ownFolders(): readonly string[] {
  const url: string | undefined = import.meta.url;
  if (url === undefined || !URL.canParse('../..', url)) return [];
  const root = new URL('../..', url);
  const spellings =
    root.protocol === 'file:' ? [root.href, decodeURI(root.pathname).replace(/^\/(?=[A-Z]:)/i, '')] : [root.href];
  return spellings.flatMap((folder) => [`${folder}dist/`, `${folder}src/`]);
}

function isOwnFrame(frame: string): boolean {
  if (/\.test\.[jt]s/.test(frame)) return false;
  own ??= ownFolders();
  const path = frame.replaceAll('\\', '/');
  return path.includes('node:') || path.includes(INSTALLED) || own.some((folder) => path.includes(folder));
}

/** The error for using something that was disposed, or whose context is gone. */
export function disposedError(what: string, site: Site | undefined, remedy: string): TsambaRangeError {
  const where = site === undefined ? '' : ` at ${site.text}`;
  return new TsambaRangeError('E_DISPOSED', `this ${what} was disposed${where}; ${remedy}`);
}
