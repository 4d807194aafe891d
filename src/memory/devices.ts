/**
 * Which device the program computes on: the environment's choice, the program's, and the current context.
 *
 * A device is opened when it is first needed, one context each. Without an NVIDIA GPU `auto` takes the CPU device, says
 * so once, and `currentDevice().fallbackReason` says why; there is no other silent fallback. What kinds of devices there are is
 * `providers.ts`, the list of GPUs `gpus.ts`.
 */
import type { DeviceInfo, DeviceKind, DeviceLimits } from '../driver/driver.ts';
import { traced } from '../driver/tracing.ts';
import { switchFromEnvironment, variable } from '../environment.ts';
import { NotSupportedError, TsambaRangeError } from '../errors.ts';
import { freezeData } from '../guarded.ts';
import { warn } from '../runtime.ts';
import { show } from '../show.ts';
import { Context } from './context.ts';
import { checkBody, type Leavable, leavable, leaveAfter } from './leaving.ts';
import { openAtOnce, probe } from './providers.ts';

export { registerProvider } from './providers.ts';

/** A device as users see it. Numba: what `cuda.gpus` has, and `get_current_device()` gives. */
export interface Device {
  readonly kind: DeviceKind;
  readonly name: string;
  /** Number among the devices of its kind. */
  readonly index: number;
  /** `[9, 0]` on NVIDIA; undefined elsewhere. */
  readonly computeCapability: readonly [number, number] | undefined;
  readonly limits: DeviceLimits;
  /** Why this device was taken instead of an NVIDIA GPU; undefined if it was asked for by name. */
  readonly fallbackReason: string | undefined;
  /** `GPU-` and 32 hexadecimal digits; undefined where devices have none. */
  readonly uuid: string | undefined;
  /** `0000:3b:00.0`; undefined where devices have none. */
  readonly pciBusId: string | undefined;
  /** The newest version that the hardware's driver supports, `CUDA 13.0`; undefined where there is no such driver. */
  readonly driverVersion: string | undefined;
  /**
   * Makes this the current device until the result is disposed, or until `body`, sync or async, is done; also when it throws. The
   * one that was current then is again. Numba: `with cuda.gpus[i]:`.
   */
  activate(): Leavable;
  activate<R>(body: () => R): R;
}

/** What `selectDevice` takes: the number of an NVIDIA GPU, or another kind of device by its name. */
export type DeviceChoice = number | 'nvidia' | 'cpu' | 'simulator';

const CHOICES = ['auto', 'nvidia', 'cpu', 'simulator'] as const;
type Choice = (typeof CHOICES)[number];

/** By kind and number: `nvidia:1`. */
const contexts = new Map<string, Context>();
let current: Context | undefined;
/** Why the current context is not an NVIDIA GPU, when nobody asked for what it is. */
let fallbackReason: string | undefined;
let announced = false;

/** The context that new arrays and launches use; opens the device if it is not open yet. Numba: `current_context()`. */
export function currentContext(): Context {
  if (current === undefined || current.closed) current = openDefault();
  return current;
}

/** Makes a context the current one, and gives the one that was. For tests that bring a driver of their own. */
export function activateContext(context: Context | undefined): Context | undefined {
  const previous = current;
  current = context;
  return previous;
}

/** The device of the current context. Numba: `get_current_device()`. */
export function currentDevice(): Device {
  const { info } = currentContext();
  return describe(info, fallbackReason);
}

/**
 * Makes a device the current one: the number of an NVIDIA GPU, `'cpu'` or `'simulator'`. Numba: `select_device(i)`.
 * @throws NotSupportedError when there is no such device, RangeError for a name that is none.
 */
export function selectDevice(choice: DeviceChoice): Device {
  if (typeof choice === 'number') {
    if (!Number.isInteger(choice) || choice < 0) throw badChoice(`selectDevice(${choice})`);
    checkGpu(choice);
    current = openDevice('nvidia', choice, `selectDevice(${choice})`);
  } else {
    if (choice !== 'nvidia' && choice !== 'cpu' && choice !== 'simulator')
      throw badChoice(`selectDevice(${show(choice)})`);
    current = openDevice(choice, 0, `selectDevice('${choice}')`);
  }
  fallbackReason = undefined;
  return describe(current.info, undefined);
}

/** Closes all devices: every array, stream and kernel on them is dead. Numba: `close()`. */
export function close(): void {
  current = undefined;
  for (const context of contexts.values()) context.close();
  contexts.clear();
}

/** Whether there is an NVIDIA GPU that can be used. Never throws. Numba: `is_available()`. */
export function isAvailable(): boolean {
  return probe('nvidia').count > 0;
}

/** What a device says of itself; opens it only where that costs nothing. */
export function describeDevice(kind: DeviceKind, index: number): Device {
  const { provider } = probe(kind);
  const info = provider?.describe?.(index) ?? openDevice(kind, index, `${kind} ${index}`).info;
  return describe(info, undefined);
}

function describe(info: DeviceInfo, reason: string | undefined): Device {
  const { kind, name, index, computeCapability, limits, uuid, pciBusId, driverVersion } = freezeData(info);
  const activate: Device['activate'] = <R>(body?: () => R): Leavable | R => {
    if (body !== undefined) checkBody('activate', body);
    const leave = enter(kind, index);
    return body === undefined ? leavable(leave) : leaveAfter(leave, body);
  };
  return Object.freeze({
    kind,
    name,
    index,
    computeCapability,
    limits,
    fallbackReason: reason,
    uuid,
    pciBusId,
    driverVersion,
    activate: activate as Device['activate'],
  });
}

/** Makes a device current; the function that it gives makes the one current again that was. */
function enter(kind: DeviceKind, index: number): () => void {
  const before = { current, fallbackReason };
  current = openDevice(kind, index, `activate() of ${kind} device ${index}`);
  fallbackReason = undefined;
  return () => {
    ({ current, fallbackReason } = before);
  };
}

function checkGpu(index: number): void {
  const { count, reason } = probe('nvidia');
  if (index < count) return;
  const there = count === 0 ? reason : `this machine has ${count}, numbered from 0`;
  throw new NotSupportedError(
    'E_NO_GPU',
    `selectDevice(${index}): there is no NVIDIA GPU ${index}: ${there}; selectDevice('cpu') takes the CPU device`,
  );
}

function openDefault(): Context {
  const choice = environmentChoice();
  const required = switchFromEnvironment('TSAMBA_REQUIRE_GPU') === true;
  if (required && (choice === 'cpu' || choice === 'simulator')) {
    throw new NotSupportedError(
      'E_NO_GPU',
      `TSAMBA_REQUIRE_GPU=1 contradicts TSAMBA_DEVICE=${choice}; unset one of them`,
    );
  }
  fallbackReason = undefined;
  if (choice !== 'auto') return openDevice(choice, 0, `TSAMBA_DEVICE=${choice}`);
  const { count, reason } = probe('nvidia');
  if (count > 0) return openDevice('nvidia', 0, 'TSAMBA_DEVICE=auto');
  if (required) {
    throw new NotSupportedError('E_NO_GPU', `TSAMBA_REQUIRE_GPU=1, but there is no NVIDIA GPU to use: ${reason}`);
  }
  const context = openDevice('cpu', 0, 'TSAMBA_DEVICE=auto');
  const { restriction } = context.info;
  fallbackReason = [reason ?? 'none was found', ...(restriction === undefined ? [] : [restriction])].join('; ');
  announceFallback(fallbackReason);
  return context;
}

function environmentChoice(): Choice {
  const text = variable('TSAMBA_DEVICE');
  if (text === undefined || text === '') return 'auto';
  const choice = CHOICES.find((name) => name === text.toLowerCase());
  if (choice === undefined) throw badChoice(`TSAMBA_DEVICE=${text}`);
  return choice;
}

function badChoice(given: string): TsambaRangeError {
  return new TsambaRangeError(
    'E_DEVICE',
    `${given} names no device; ${
      given.startsWith('TSAMBA') ? CHOICES.join(', ') : "the number of an NVIDIA GPU, 'cpu' and 'simulator'"
    } are possible`,
  );
}

function openDevice(kind: DeviceKind, index: number, asked: string): Context {
  const key = `${kind}:${index}`;
  const open = contexts.get(key);
  if (open !== undefined && !open.closed) return open;
  const { provider, count, reason } = probe(kind);
  if (provider === undefined || index >= count) {
    const why = reason === undefined || reason === '' ? '' : `: ${reason}`;
    const instead =
      kind === 'nvidia'
        ? `; ${asked.startsWith('TSAMBA') ? 'TSAMBA_DEVICE=cpu' : "selectDevice('cpu')"} takes the CPU device`
        : '';
    throw new NotSupportedError('E_NO_DEVICE', `${asked}: there is no ${kind} device${why}${instead}`);
  }
  const context = new Context(traced(openAtOnce(provider, index, asked, `await cuda.open('${kind}')`)));
  contexts.set(key, context);
  return context;
}

/** Once a process, as a warning: `TSAMBA_DEVICE=cpu`, NODE_NO_WARNINGS or `--disable-warning=TSAMBA_FALLBACK` silence it. */
function announceFallback(reason: string): void {
  if (announced) return;
  announced = true;
  warn(`no NVIDIA GPU is used (${reason}): kernels run on the CPU device. TSAMBA_DEVICE=cpu chooses it silently`, {
    type: 'TsambaWarning',
    code: 'TSAMBA_FALLBACK',
  });
}
