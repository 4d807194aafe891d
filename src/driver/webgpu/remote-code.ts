/**
 * The program of the thread that has a WebGPU device on behalf of another, which waits for it: it does what it is sent, in order, and leaves answers in memory that both share.
 *
 * It is a text, so that it needs no file that a bundler could lose. Answers are JSON in a box of shared memory; bytes that were read go into memory that came with the request. It never
 * sleeps: Dawn's answers come by its event loop.
 */

import type { GpuInfo } from './api.ts';

/** Int32 slots of the box: whether there is a letter, its bytes, whether more wait for the box to be empty, and whether the other thread sleeps until there is a letter. */
export const BOX: {
  readonly full: number;
  readonly bytes: number;
  readonly more: number;
  readonly sleeps: number;
  readonly text: number;
  readonly size: number;
} = { full: 0, bytes: 1, more: 2, sleeps: 3, text: 16, size: 65_536 };

/** A text in an answer is cut off after so many characters. */
const MOST_TEXT = 8000;

/** What the thread is started with. */
export interface RemoteData {
  readonly [name: string]: unknown;
  readonly box: SharedArrayBuffer;
  /** The main file of the package `webgpu`, where the thread has no WebGPU of its own. */
  readonly path: string | undefined;
  readonly limits: readonly string[];
  readonly features: readonly string[];
}

/** The answer to a request by its number; that to 0 says how opening went, a loss comes unasked. */
export interface RemoteAnswer {
  readonly to: number;
  readonly error?: string;
  /** Of `pop`. */
  readonly message?: string | null;
  /** Of opening: undefined where there is no adapter. */
  readonly opened?: {
    readonly info: GpuInfo;
    readonly limits: Readonly<Record<string, number>>;
    readonly features: readonly string[];
  };
  readonly lost?: { readonly reason: string; readonly message: string };
}

const PROGRAM = `
const state = new Int32Array(data.box);
const text = new Uint8Array(data.box, ${BOX.text});
const outbox = [];
const cut = (s) => String(s).slice(0, ${MOST_TEXT});
const deliver = () => {
  if (outbox.length === 0) return;
  Atomics.store(state, ${BOX.more}, 1);
  if (Atomics.load(state, ${BOX.full}) !== 0) return;
  Atomics.store(state, ${BOX.more}, 0);
  const encoder = new TextEncoder();
  let letter = encoder.encode(JSON.stringify(outbox.splice(0, 1)));
  while (outbox.length > 0) {
    const next = encoder.encode(JSON.stringify(outbox[0]));
    if (letter.length + next.length + 1 > text.length) break;
    outbox.shift();
    const both = new Uint8Array(letter.length + next.length + 1);
    both.set(letter.subarray(0, -1));
    both[letter.length - 1] = 44;
    both.set(next, letter.length);
    both[both.length - 1] = 93;
    letter = both;
  }
  text.set(letter);
  if (outbox.length > 0) Atomics.store(state, ${BOX.more}, 1);
  state[${BOX.bytes}] = letter.length;
  Atomics.store(state, ${BOX.full}, 1);
  Atomics.notify(state, ${BOX.full});
  if (Atomics.load(state, ${BOX.sleeps}) === 0) wake();
};
const answer = (to, more) => { outbox.push({ to, ...more }); deliver(); };
const things = new Map();
const scopes = new Set();
let gpu, adapter, device;
const whole = (value) => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(whole);
  if ('$' in value) return things.get(value.$);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, whole(each)]));
};
const submit = (commands) => {
  const encoder = device.createCommandEncoder();
  let pass;
  for (const [name, ...args] of commands) {
    const given = args.map(whole);
    if (name === 'beginComputePass') pass = encoder.beginComputePass(...given);
    else if (pass !== undefined) { pass[name](...given); if (name === 'end') pass = undefined; }
    else encoder[name](...given);
  }
  device.queue.submit([encoder.finish()]);
};
const read = async (to, id, shared) => {
  const buffer = things.get(id);
  await buffer.mapAsync(1, 0, shared.byteLength);
  new Uint8Array(shared).set(new Uint8Array(buffer.getMappedRange(0, shared.byteLength)));
  buffer.unmap();
  answer(to);
};
const failed = (to) => (error) => answer(to, { error: cut(error && error.message || error) });
const does = {
  make: (id, method, options) => things.set(id, device[method](whole(options))),
  drop: (id) => { things.get(id)?.destroy?.(); things.delete(id); },
  write: (id, at, bytes) => device.queue.writeBuffer(things.get(id), at, bytes),
  submit,
  push: (filter) => device.pushErrorScope(filter),
  pop: (to) => {
    const scope = device.popErrorScope().then((error) => answer(to, { message: error && cut(error.message) }), failed(to)).then(() => scopes.delete(scope));
    scopes.add(scope);
  },
  done: (to) => void Promise.all([...scopes, device.queue.onSubmittedWorkDone()]).then(() => answer(to), failed(to)),
  read: (to, id, shared) => void read(to, id, shared).catch(failed(to)),
  more: deliver,
  close: (to) => { device.destroy(); if (to !== undefined) answer(to); end(); },
};
const open = async () => {
  gpu = data.path === undefined ? globalThis.navigator.gpu : load(data.path).create([]);
  adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return answer(0);
  const requiredLimits = Object.fromEntries(data.limits.map((name) => [name, adapter.limits[name]]));
  const requiredFeatures = data.features.filter((name) => adapter.features.has(name));
  device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  device.lost.then(({ reason, message }) => answer(-1, { lost: { reason: cut(reason), message: cut(message) } }));
  const { vendor, device: model, architecture, description, isFallbackAdapter, subgroupMinSize, subgroupMaxSize } = adapter.info ?? {};
  const limits = Object.fromEntries(data.limits.map((name) => [name, device.limits[name]]));
  answer(0, { opened: { info: { vendor, device: model, architecture, description, isFallbackAdapter, subgroupMinSize, subgroupMaxSize }, limits, features: requiredFeatures } });
};
const receive = (requests) => {
  for (const [name, ...args] of requests) {
    try { does[name](...args); } catch (error) { answer(-1, { error: cut(error && error.message || error) }); }
  }
};
open().catch(failed(0));
`;

/** For `startThread`. Pages have their devices themselves, and wait for none. */
export const REMOTE_CODE: { readonly node: string; readonly page: string } = {
  node: `
const { workerData: data } = require('node:worker_threads');
const { port } = data;
const load = (path) => require('node:module').createRequire(path)(path);
const wake = () => port.postMessage('');
const end = () => port.close();
${PROGRAM}
port.on('message', receive);
`,
  page: '',
};
