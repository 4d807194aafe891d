/**
 * Turns of the event loop, and pauses, also in pages that nobody sees: browsers hold up the timers of a hidden page, to one a second at first and one a minute after some minutes, but neither its
 * messages nor the timers of its workers.
 */
import { isPage } from './index.ts';

interface PageWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: { preventDefault?(): void }) => void) | null;
  postMessage(message: unknown): void;
}

interface PageGlobals {
  readonly document?: { readonly visibilityState?: string };
  readonly Worker?: new (url: string) => PageWorker;
}

/** What the next turns call, in order, and where a message brings the next turn. */
const turns: (() => void)[] = [];
let door: { postMessage(message: unknown): void } | undefined;

/** Calls a function in the next turn of the event loop. */
export function onNextTurn(body: () => void): void {
  if (typeof setImmediate === 'function') return void setImmediate(body);
  if (!isPage()) return void setTimeout(body, 0);
  turns.push(body);
  door ??= openDoor();
  door.postMessage(0);
}

function openDoor(): { postMessage(message: unknown): void } {
  const { port1, port2 } = new MessageChannel();
  Object.assign(port1, { onmessage: () => turns.shift()?.() });
  return port2;
}

/** As `onNextTurn`, but the process does not stay for it. Undefined, and nothing is called, where no process ends by itself. */
export function onIdleTurn(body: () => void): NodeJS.Immediate | undefined {
  return typeof setImmediate === 'function' ? setImmediate(body).unref() : undefined;
}

/** Calls a function after so many milliseconds, if what this gives is not called before. */
export function after(milliseconds: number, body: () => void): () => void {
  const page = globalThis as PageGlobals;
  if (page.document?.visibilityState === 'hidden' && isPage() && page.Worker !== undefined) {
    clock ??= new WorkerClock(page.Worker);
    if (clock.runs) return clock.after(milliseconds, body);
  }
  const timer = setTimeout(body, milliseconds);
  return () => clearTimeout(timer);
}

const CODE = 'onmessage = ({ data: [id, ms] }) => setTimeout(() => postMessage(id), ms);';

/** The timers of a worker, whose programs a page's rules may forbid. */
class WorkerClock {
  runs = true;
  readonly #waiting = new Map<number, () => void>();
  #worker: PageWorker | undefined;
  #next = 1;

  constructor(PageWorkerClass: new (url: string) => PageWorker) {
    try {
      const worker = new PageWorkerClass(URL.createObjectURL(new Blob([CODE], { type: 'text/javascript' })));
      worker.onmessage = ({ data }) => this.#ring(data as number);
      worker.onerror = (event) => {
        event.preventDefault?.();
        this.#stop();
      };
      this.#worker = worker;
    } catch {
      this.runs = false;
    }
  }

  after(milliseconds: number, body: () => void): () => void {
    const id = this.#next++;
    this.#waiting.set(id, body);
    this.#worker?.postMessage([id, milliseconds]);
    return () => this.#waiting.delete(id);
  }

  #ring(id: number): void {
    const body = this.#waiting.get(id);
    this.#waiting.delete(id);
    body?.();
  }

  #stop(): void {
    this.runs = false;
    for (const id of [...this.#waiting.keys()]) setTimeout(() => this.#ring(id), 0);
  }
}

let clock: WorkerClock | undefined;
