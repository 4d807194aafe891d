/**
 * Which device `roc` computes on: `TSAMBA_ROC_DRIVER`, or what the program selects. Its contexts are its own: `cuda.close()` does not
 * close them, and `roc.close()` none of `cuda`'s, also where both compute on the same hardware.
 *
 * `auto` takes an AMD GPU by OpenCL, else one by HIP, else another GPU by OpenCL, else OpenCL on the CPU, else the CPU device; without a GPU
 * `currentDevice().fallbackReason` says why, and the CPU device says so once. Everything below takes the current context of
 * `memory/devices.ts`: `within` makes it `roc`'s for the time of a call.
 */
import type { DeviceInfo, DeviceKind, DeviceLimits, HardwareInfo } from '../driver/driver.ts';
import { switchFromEnvironment, variable } from '../environment.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { Context } from '../memory/context.ts';
import { activateContext } from '../memory/devices.ts';
import { checkBody, type Leavable, leavable, leaveAfter } from '../memory/leaving.ts';
import { openAtOnce, probe } from '../memory/providers.ts';
import type { MemoryStats } from '../memory/stats.ts';
import { warn } from '../runtime.ts';
import { show } from '../show.ts';
import { synchronizeContext } from '../stream/synchronize.ts';

/** The kinds of devices that `roc` computes on. */
export type RocKind = 'opencl' | 'hip' | 'cpu' | 'simulator';

/** A device of `roc`. Numba's `Agent`. */
export interface Agent {
  readonly kind: RocKind;
  readonly name: string;
  /** Number among the devices of its kind. */
  readonly index: number;
  /** What it is: `'gpu'`, `'cpu'` or `'other'`. */
  readonly type: HardwareInfo['type'];
  readonly vendor: HardwareInfo['vendor'];
  readonly limits: DeviceLimits;
  /** Why this device was taken and not a GPU; undefined if it is one, or was asked for by name. */
  readonly fallbackReason: string | undefined;
  /**
   * What Tsamba's code goes around on this device, because its compiler was found to get it wrong when it was opened: `[]` for nothing, as
   * for devices that are not open.
   */
  readonly workarounds: readonly string[];
  /**
   * Makes this the current device of `roc` until the result is disposed, or until `body`, sync or async, is done; also when it
   * throws. The one that was current then is again.
   */
  activate(): Leavable;
  activate<R>(body: () => R): R;
}

const KINDS = ['opencl', 'hip', 'cpu', 'simulator'] as const satisfies readonly RocKind[];
/** In the order of preference. */
const ACCELERATORS = ['opencl', 'hip'] as const;

const contexts = new Map<string, Context>();
let current: Context | undefined;
let fallbackReason: string | undefined;
let announced = false;

/** The context that `roc`'s arrays and launches use; opens the device if it is not open yet. */
export function currentContext(): Context {
  if (current === undefined || current.closed) current = openDefault();
  return current;
}

/** Makes a context `roc`'s current one, and gives the one that was. For tests that bring a driver of their own. */
export function activateRocContext(context: Context | undefined): Context | undefined {
  const previous = current;
  current = context;
  fallbackReason = undefined;
  return previous;
}

/** Runs a call of the layers below with a context of `roc` as the current one. */
export function within<R>(work: () => R, context: Context = currentContext()): R {
  const before = activateContext(context);
  try {
    return work();
  } finally {
    activateContext(before);
  }
}

/** The device that `roc` computes on. */
export function currentDevice(): Agent {
  const { info } = currentContext();
  return describe(info, fallbackReason);
}

/**
 * Makes a device the current one of `roc`: a kind, and its number among those (0).
 * @throws NotSupportedError when there is no such device, RangeError for what is no kind.
 */
export function selectDevice(kind: RocKind, index = 0): Agent {
  if (!KINDS.includes(kind)) throw badKind(`selectDevice(${show(kind)})`);
  if (!Number.isInteger(index) || index < 0) {
    throw new TsambaRangeError('E_DEVICE', `roc.selectDevice('${kind}', ${index}): devices are numbered from 0`);
  }
  current = openDevice(kind, index, `roc.selectDevice('${kind}', ${index})`);
  fallbackReason = undefined;
  return describe(current.info, undefined);
}

/** Closes all devices that `roc` has opened: every array, stream and kernel on them is dead. */
export function close(): void {
  current = undefined;
  for (const context of contexts.values()) context.close();
  contexts.clear();
}

/** Whether there is a device by OpenCL or HIP. Never throws. Numba: `roc.is_available()`. */
export function isAvailable(): boolean {
  return ACCELERATORS.some((kind) => probe(kind).count > 0);
}

/** Blocks until all work of the current device has been done, then throws what went wrong, if anything did. */
export function synchronize(): void {
  currentContext().synchronize();
}

/** As `synchronize`, without blocking the event loop: resolves when the work is done, rejects with what went wrong. */
export function synchronizeAsync(): Promise<void> {
  return synchronizeContext(currentContext());
}

/** Bytes live, pending, pooled and at the peak on `roc`'s device; counts of allocations, frees, copies and synchronisations. */
export function memoryStats(): MemoryStats {
  return currentContext().memoryStats();
}

/** All devices that `roc` can compute on, those by OpenCL and HIP first. Opens none of them. */
export function listAgents(): Agent[] {
  return [...accelerators(), ...(['cpu', 'simulator'] as const).map((kind) => openInfo(kind, 0))].map((info) =>
    describe(info, undefined),
  );
}

/** Reads the `context` option: a context, or nothing for the current one. Throws TypeError. */
export function contextOption(value: unknown, call: string): Context {
  if (value === undefined || value === null) return currentContext();
  if (value instanceof Context) {
    value.checkOpen();
    return value;
  }
  throw new TsambaTypeError(
    'E_OPTION',
    `${call}: context must be a context such as roc.currentContext() gives, got a value of type ${typeof value}; ` +
      'a stream is the option stream',
  );
}

// ---------------------------------------------------------------- choosing

function accelerators(): DeviceInfo[] {
  return ACCELERATORS.flatMap((kind) => Array.from({ length: probe(kind).count }, (_, index) => openInfo(kind, index)));
}

/** What a device says of itself; opens it only where that costs nothing. */
function openInfo(kind: RocKind, index: number): DeviceInfo {
  const { provider } = probe(kind);
  return provider?.describe?.(index) ?? openDevice(kind, index, `${kind} ${index}`).info;
}

/** Smaller is better. */
function rank({ kind, hardware }: DeviceInfo): number {
  if (kind === 'hip') return 1;
  if (hardware?.type === 'gpu') return hardware.vendor === 'amd' ? 0 : 2;
  return 3;
}

function openDefault(): Context {
  const choice = environmentChoice();
  fallbackReason = undefined;
  if (choice !== 'auto') {
    const info = openInfo(choice, checkThere(choice));
    checkRequired(rank(info) < 3 ? undefined : `TSAMBA_ROC_DRIVER=${choice} is ${info.name}`);
    return openDevice(choice, 0, `TSAMBA_ROC_DRIVER=${choice}`);
  }
  const [best] = accelerators().sort((a, b) => rank(a) - rank(b));
  if (best !== undefined && rank(best) < 3) return openDevice(kindOf(best.kind), best.index, 'TSAMBA_ROC_DRIVER=auto');
  const reason = best === undefined ? whyNone() : 'there is no GPU by OpenCL, and none by HIP';
  checkRequired(reason);
  const context = openDevice(
    best === undefined ? 'cpu' : kindOf(best.kind),
    best?.index ?? 0,
    'TSAMBA_ROC_DRIVER=auto',
  );
  fallbackReason = reason;
  if (best === undefined) announceFallback(reason);
  return context;
}

/** Throws when there is no device of a kind that was asked for; its number else. */
function checkThere(kind: RocKind): 0 {
  const { count, reason } = probe(kind);
  if (count > 0) return 0;
  throw new NotSupportedError('E_NO_DEVICE', `TSAMBA_ROC_DRIVER=${kind}: ${noDevice(kind, reason)}`);
}

function checkRequired(reason: string | undefined): void {
  if (reason === undefined || switchFromEnvironment('TSAMBA_REQUIRE_GPU') !== true) return;
  throw new NotSupportedError('E_NO_GPU', `TSAMBA_REQUIRE_GPU=1, but roc has no GPU to use: ${reason}`);
}

function whyNone(): string {
  return ACCELERATORS.map((kind) => noDevice(kind, probe(kind).reason)).join('; ');
}

function noDevice(kind: RocKind, reason: string | undefined): string {
  const why = probe(kind).provider === undefined ? 'this version of Tsamba has no driver for it' : reason;
  return `no ${NAMES[kind]}${why === undefined ? '' : ` (${why})`}`;
}

const NAMES: Readonly<Record<RocKind, string>> = {
  opencl: 'OpenCL device',
  hip: 'HIP device',
  cpu: 'CPU device',
  simulator: 'simulator',
};

function environmentChoice(): RocKind | 'auto' {
  const text = variable('TSAMBA_ROC_DRIVER');
  if (text === undefined || text === '') return 'auto';
  const choice = (['auto', ...KINDS] as const).find((name) => name === text.toLowerCase());
  if (choice === undefined) throw badKind(`TSAMBA_ROC_DRIVER=${text}`);
  return choice;
}

function badKind(given: string): TsambaRangeError {
  const known = given.startsWith('TSAMBA') ? ['auto', ...KINDS] : KINDS.map((kind) => `'${kind}'`);
  return new TsambaRangeError('E_DEVICE', `${given} names no device of roc; ${known.join(', ')} are possible`);
}

function kindOf(kind: DeviceKind): RocKind {
  if (kind === 'nvidia') throw new Error('roc has no device of this kind');
  return kind;
}

function openDevice(kind: RocKind, index: number, asked: string): Context {
  const key = `${kind}:${index}`;
  const open = contexts.get(key);
  if (open !== undefined && !open.closed) return open;
  const { provider, count, reason } = probe(kind);
  if (provider === undefined || index >= count) {
    const there = count > 0 ? `there are ${count}, numbered from 0` : noDevice(kind, reason);
    throw new NotSupportedError('E_NO_DEVICE', `${asked}: ${there}`);
  }
  const context = new Context(openAtOnce(provider, index, asked, `await roc.open('${kind}')`), {
    namespace: 'roc',
    readsWait: true,
  });
  contexts.set(key, context);
  return context;
}

function describe(info: DeviceInfo, reason: string | undefined): Agent {
  const { name, index, limits, hardware, workarounds = [] } = info;
  const kind = kindOf(info.kind);
  const { type, vendor } = hardware ?? { type: 'cpu', vendor: 'other' };
  const activate: Agent['activate'] = <R>(body?: () => R): Leavable | R => {
    if (body !== undefined) checkBody('activate', body);
    const leave = enter(kind, index);
    return body === undefined ? leavable(leave) : leaveAfter(leave, body);
  };
  return {
    kind,
    name,
    index,
    type,
    vendor,
    limits,
    fallbackReason: reason,
    workarounds,
    activate: activate as Agent['activate'],
  };
}

function enter(kind: RocKind, index: number): () => void {
  const before = { current, fallbackReason };
  current = openDevice(kind, index, `activate() of ${kind} device ${index}`);
  fallbackReason = undefined;
  return () => {
    ({ current, fallbackReason } = before);
  };
}

/** Once a process, as a warning: `TSAMBA_ROC_DRIVER=cpu`, NODE_NO_WARNINGS or `--disable-warning=TSAMBA_FALLBACK` silence it. */
function announceFallback(reason: string): void {
  if (announced) return;
  announced = true;
  warn(`roc runs on the CPU device: ${reason}. TSAMBA_ROC_DRIVER=cpu chooses it silently`, {
    type: 'TsambaWarning',
    code: 'TSAMBA_FALLBACK',
  });
}
