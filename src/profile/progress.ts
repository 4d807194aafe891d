/**
 * A line on standard error about what takes long: `TSAMBA_PROGRESS=1`.
 *
 * What takes long blocks this thread, as a compiler or a copy does. So another thread writes the line: what is under way stands in memory that
 * both share, and when that has not changed for a second it is shown, with the seconds that it has taken.
 */
import { environmentVariables } from '../host/index.ts';
import { startThread } from '../host/start-thread.ts';
import type { Doing } from './observing.ts';

/** Int32 slots: counts what begins and ends; bytes of the text, 0 where nothing is under way. Then, in milliseconds since 1970, when it began; then the text. */
const [CHANGES, LENGTH] = [0, 1];
const BEGAN = 1;
const TEXT = 16;
const MOST_BYTES = 240;

/** Milliseconds until something is shown, and until its seconds are counted on. */
const PATIENCE = 1000;
const STEP = 500;

const CODE: string = `'use strict';
const { workerData: { memory, plain } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const terminal = !plain && require('node:tty').isatty(2);
const int = new Int32Array(memory);
const began = new Float64Array(memory);
let [seen, shown] = [0, ''];
const write = (text) => { try { writeSync(2, text); } catch {} };
const taken = (digits) => ((performance.timeOrigin + performance.now() - began[${BEGAN}]) / 1000).toFixed(digits) + ' s';
for (;;) {
  const length = int[${LENGTH}];
  const waited = Atomics.wait(int, ${CHANGES}, seen, length === 0 ? Infinity : shown === '' ? ${PATIENCE} : ${STEP});
  if (waited !== 'timed-out') {
    if (shown !== '') write(terminal ? '\\r\\x1b[K' : 'tsamba: ' + shown + ' is over\\n');
    [seen, shown] = [Atomics.load(int, ${CHANGES}), ''];
    continue;
  }
  const text = Buffer.from(new Uint8Array(memory, ${TEXT}, length).slice()).toString();
  if (Atomics.load(int, ${CHANGES}) !== seen) continue;
  if (terminal) write('\\r\\x1b[Ktsamba: ' + text + ', ' + taken(0));
  else if (shown === '') write('tsamba: ' + text + ', ' + taken(1) + ' until now\\n');
  shown = text;
}`;

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** `12.9 GB`. */
function bytesText(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toFixed(1)} ${UNITS[step]}`;
}

/** What is shown of something; undefined of what the program itself has begun. */
function textOf({ kind, name, bytes, context }: Doing): string | undefined {
  if (kind === 'range' || kind === 'mark') return undefined;
  const size = bytes === undefined ? '' : ` of ${bytesText(bytes)}`;
  const at = context === undefined ? '' : ` (${context.info.name})`;
  return `${name}${size}${at}`;
}

interface Open {
  readonly text: Uint8Array;
  readonly began: number;
}

/** What is under way on this thread, for the thread that shows it. */
export class Progress {
  readonly #memory = new SharedArrayBuffer(TEXT + MOST_BYTES);
  readonly #int = new Int32Array(this.#memory);
  readonly #began = new Float64Array(this.#memory);
  readonly #bytes = new Uint8Array(this.#memory, TEXT);
  readonly #open = new Set<Open>();
  readonly #encoder = new TextEncoder();

  /** Starts the thread. Throws where there can be none. */
  constructor() {
    startThread({
      name: 'tsamba progress',
      code: { node: CODE, page: '' },
      data: { memory: this.#memory, plain: environmentVariables()['TERM'] === 'dumb' },
      // Without it nothing is shown.
      onError: () => undefined,
      onExit: () => undefined,
    });
  }

  /** Something begins; the function that it gives says that it is over. Others may begin and end meanwhile: the last to begin is shown. */
  begin(what: Doing): () => void {
    const text = textOf(what);
    if (text === undefined) return () => undefined;
    const bytes = this.#encoder.encode(text).subarray(0, MOST_BYTES);
    const open = { text: bytes, began: performance.timeOrigin + performance.now() };
    this.#open.add(open);
    this.#show(open);
    return () => {
      const last = this.#last();
      this.#open.delete(open);
      if (last === open) this.#show(this.#last());
    };
  }

  #last(): Open | undefined {
    let last: Open | undefined;
    for (const open of this.#open) last = open;
    return last;
  }

  #show(open: Open | undefined): void {
    this.#int[LENGTH] = open?.text.length ?? 0;
    if (open !== undefined) {
      this.#bytes.set(open.text);
      this.#began[BEGAN] = open.began;
    }
    Atomics.add(this.#int, CHANGES, 1);
    Atomics.notify(this.#int, CHANGES);
  }
}
