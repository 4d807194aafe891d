/**
 * The timers of a worker, which run on in hidden pages.
 */

interface PageWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: { preventDefault?(): void }) => void) | null;
  postMessage(message: unknown): void;
}

interface PageGlobals {
  readonly Worker: new (url: string) => PageWorker;
}

const CODE = 'onmessage = ({ data: [id, ms] }) => setTimeout(() => postMessage(id), ms);';

/** A page's rules may forbid the program of a worker: `runs` is false then, and what was waiting is called at once. */
export class WorkerClock {
  runs = true;
  readonly #waiting = new Map<number, () => void>();
  #worker: PageWorker | undefined;
  #next = 1;

  constructor() {
    try {
      const { Worker } = globalThis as unknown as PageGlobals;
      const worker = new Worker(URL.createObjectURL(new Blob([CODE], { type: 'text/javascript' })));
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
