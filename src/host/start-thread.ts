/**
 * Threads of one's own beside the calling one, wherever the runtime has them: worker threads of Node.js (Deno and Bun have the same), else workers of the page.
 *
 * What a thread runs is a text, so that it needs no file that a bundler could lose. In Node.js it finds `port` in its `workerData`, from which it takes messages by
 * `receiveMessageOnPort`; in a page the data is its first message.
 */
import { NotSupportedError } from '../errors.ts';
import { findNodeModule } from './index.ts';
import { whyNoThreads } from './threads.ts';

/** A thread that was started. */
export interface Thread {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Ends it wherever it is; resolves when it is gone. */
  terminate(): Promise<void>;
  /** Whether the process stays for messages of the thread; at first it does not. No matter in pages. */
  hold(on: boolean): void;
  /** It ends by itself: no more messages come. */
  close(): void;
  /** Whether it is over for certain, also where no event could be delivered yet. */
  readonly ended: boolean;
}

/** How a thread is started, and who is told of it. */
export interface ThreadOptions {
  readonly name: string;
  /** Of Node.js, and of a page. */
  readonly code: { readonly node: string; readonly page: string };
  readonly data: Readonly<Record<string, unknown>>;
  /** Messages from the thread, those of its start apart. */
  readonly onMessage?: (message: unknown) => void;
  readonly onError: (error: Error) => void;
  /** `started`: false where it never ran, as pages may forbid. */
  readonly onExit: (started: boolean) => void;
}

/** What a page's thread says first of all. */
export const STARTED = 'started';

/** A thread of a page runs on for so long after it was ended, at most: browsers give it two seconds to end by itself. */
const LINGER_MS = 2500;

interface PageWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: { readonly message?: string; preventDefault?(): void }) => void) | null;
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  terminate(): void;
}

interface PageGlobals {
  readonly Worker: new (url: string, options: { readonly name: string }) => PageWorker;
}

/** Starts a thread that does not keep the process alive. Throws where there can be none. */
export function startThread(options: ThreadOptions): Thread {
  const why = whyNoThreads();
  if (why !== undefined) throw new NotSupportedError('E_RUNTIME', why);
  return findNodeModule('node:worker_threads') === undefined ? startInPage(options) : startInNode(options);
}

function startInNode({ name, code, data, onMessage, onError, onExit }: ThreadOptions): Thread {
  const threads = findNodeModule('node:worker_threads') as typeof import('node:worker_threads');
  const { port1: port, port2 } = new threads.MessageChannel();
  const worker = new threads.Worker(code.node, {
    eval: true,
    workerData: { ...data, port: port2 },
    transferList: [port2],
    // The program needs no loaders of its parent, which would only make its start slow.
    execArgv: [],
    env: {},
    name,
  });
  if (onMessage !== undefined) port.on('message', onMessage);
  port.unref();
  worker.unref();
  worker.on('error', onError);
  worker.on('exit', () => onExit(true));
  return {
    post: (message, transfer = []) => port.postMessage(message, transfer),
    terminate: async () => void (await worker.terminate()),
    hold: (on) => void (on ? port.ref() : port.unref()),
    close: () => port.close(),
    // In Node.js the loop of a thread that is over reports -1, also when its 'exit' event has had no chance to be delivered.
    get ended() {
      return worker.threadId < 0 || (worker.performance?.eventLoopUtilization?.().idle ?? 0) < 0;
    },
  };
}

const urls = new Map<string, string>();

function urlOf(code: string): string {
  const known = urls.get(code);
  if (known !== undefined) return known;
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  urls.set(code, url);
  return url;
}

function startInPage({ name, code, data, onMessage, onError, onExit }: ThreadOptions): Thread {
  const { Worker } = globalThis as unknown as PageGlobals;
  const worker = new Worker(urlOf(code.page), { name });
  let started = false;
  let ended = false;
  worker.onmessage = ({ data: message }) => {
    if (!started && message === STARTED) started = true;
    else onMessage?.(message);
  };
  worker.onerror = (event) => {
    event.preventDefault?.();
    if (started) return onError(new Error(event.message ?? 'unknown'));
    ended = true;
    onExit(false);
  };
  worker.postMessage(data);
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    terminate: async () => {
      worker.terminate();
      await new Promise<void>((resolve) => setTimeout(resolve, started ? LINGER_MS : 0));
      ended = true;
    },
    hold: () => undefined,
    close: () => undefined,
    get ended() {
      return ended;
    },
  };
}
