/**
 * Which device the program computes on: the kinds there are, the environment's choice, and the current context.
 *
 * A device is opened when it is first needed, one context a kind. Without an NVIDIA GPU `auto` takes the CPU device, says
 * so once, and `currentDevice().fallbackReason` says why; there is no other silent fallback.
 */
import { cpuProvider } from '../driver/cpu/index.ts';
import type { DeviceKind, DeviceLimits, DriverProvider } from '../driver/driver.ts';
import { simulatorProvider } from '../driver/simulator/index.ts';
import { NotSupportedError, TsambaRangeError } from '../errors.ts';
import { Context } from './context.ts';

/** A device as users see it. */
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
}

/** What `selectDevice` takes: the number of an NVIDIA GPU, or another kind of device by its name. */
export type DeviceChoice = number | 'nvidia' | 'cpu' | 'simulator';

const NO_NVIDIA_DRIVER = 'this version of Tsamba has no driver for NVIDIA GPUs';
const CHOICES = ['auto', 'nvidia', 'cpu', 'simulator'] as const;
type Choice = (typeof CHOICES)[number];

const providers = new Map<DeviceKind, DriverProvider>([
  ['cpu', cpuProvider],
  ['simulator', simulatorProvider],
]);
const contexts = new Map<DeviceKind, Context>();
let current: Context | undefined;
/** Why the current context is not an NVIDIA GPU, when nobody asked for what it is. */
let fallbackReason: string | undefined;
let announced = false;

/** Makes a kind of device known; the last one given for a kind holds, if that kind has not been opened yet. */
export function registerProvider(provider: DriverProvider): void {
  providers.set(provider.kind, provider);
}

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
  return describe(currentContext());
}

/**
 * Makes a device the current one: the number of an NVIDIA GPU, `'cpu'` or `'simulator'`. Numba: `select_device(i)`.
 * @throws NotSupportedError when there is no such device, RangeError for a name that is none.
 */
export function selectDevice(choice: DeviceChoice): Device {
  if (typeof choice === 'number') {
    if (!Number.isInteger(choice) || choice < 0) throw badChoice(`selectDevice(${choice})`);
    throw new NotSupportedError(
      'E_NO_GPU',
      `selectDevice(${choice}): there is no NVIDIA GPU ${choice}: ${nvidiaStatus()}; selectDevice('cpu') takes the CPU device`,
    );
  }
  if (choice !== 'nvidia' && choice !== 'cpu' && choice !== 'simulator')
    throw badChoice(`selectDevice(${show(choice)})`);
  current = openKind(choice, `selectDevice('${choice}')`);
  fallbackReason = undefined;
  return describe(current);
}

/** Closes all devices: every array, stream and kernel on them is dead. Numba: `close()`. */
export function close(): void {
  current = undefined;
  for (const context of contexts.values()) context.close();
  contexts.clear();
}

/** The NVIDIA GPUs of this machine; devices of other kinds are not in it. Numba: `cuda.gpus`. */
export const gpus: readonly Device[] = Object.freeze([]);

/** Whether there is an NVIDIA GPU that can be used. Never throws. Numba: `is_available()`. */
export function isAvailable(): boolean {
  return gpus.length > 0;
}

/** Prints what devices there are and returns whether an NVIDIA GPU is among them. Numba: `detect()`. */
export function detect(): boolean {
  const lines = [`Found ${gpus.length} NVIDIA GPUs${gpus.length === 0 ? `: ${nvidiaStatus()}` : ''}`];
  for (const provider of providers.values()) {
    const { count, reason } = provider.probe();
    lines.push(`${provider.kind}: ${count > 0 ? 'usable' : `not usable: ${reason ?? 'no device'}`}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
  return isAvailable();
}

function nvidiaStatus(): string {
  const provider = providers.get('nvidia');
  if (provider === undefined) return NO_NVIDIA_DRIVER;
  return provider.probe().reason ?? 'the driver finds no device';
}

function openDefault(): Context {
  const choice = environmentChoice();
  if (process.env.TSAMBA_REQUIRE_GPU === '1' && (choice === 'cpu' || choice === 'simulator')) {
    throw new NotSupportedError(
      'E_NO_GPU',
      `TSAMBA_REQUIRE_GPU=1 contradicts TSAMBA_DEVICE=${choice}; unset one of them`,
    );
  }
  fallbackReason = undefined;
  if (choice !== 'auto') return openKind(choice, `TSAMBA_DEVICE=${choice}`);
  if ((providers.get('nvidia')?.probe().count ?? 0) > 0) return openKind('nvidia', 'TSAMBA_DEVICE=auto');
  const reason = nvidiaStatus();
  if (process.env.TSAMBA_REQUIRE_GPU === '1') {
    throw new NotSupportedError('E_NO_GPU', `TSAMBA_REQUIRE_GPU=1, but there is no NVIDIA GPU to use: ${reason}`);
  }
  const context = openKind('cpu', 'TSAMBA_DEVICE=auto');
  fallbackReason = reason;
  announceFallback(reason);
  return context;
}

function environmentChoice(): Choice {
  const text = process.env.TSAMBA_DEVICE;
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

function openKind(kind: DeviceKind, asked: string): Context {
  const open = contexts.get(kind);
  if (open !== undefined && !open.closed) return open;
  const provider = providers.get(kind);
  const { count, reason } = provider?.probe() ?? { count: 0, reason: kind === 'nvidia' ? NO_NVIDIA_DRIVER : undefined };
  if (provider === undefined || count === 0) {
    throw new NotSupportedError('E_NO_DEVICE', `${asked}: there is no ${kind} device${reason ? `: ${reason}` : ''}`);
  }
  const context = new Context(provider.open(0));
  contexts.set(kind, context);
  return context;
}

/** Once a process, as a warning: `TSAMBA_DEVICE=cpu`, NODE_NO_WARNINGS or `--disable-warning=TSAMBA_FALLBACK` silence it. */
function announceFallback(reason: string): void {
  if (announced) return;
  announced = true;
  process.emitWarning(
    `no NVIDIA GPU is used (${reason}): kernels run on the CPU device. TSAMBA_DEVICE=cpu chooses it silently`,
    {
      type: 'TsambaWarning',
      code: 'TSAMBA_FALLBACK',
    },
  );
}

function describe(context: Context): Device {
  const { kind, name, index, computeCapability, limits } = context.info;
  return {
    kind,
    name,
    index,
    computeCapability,
    limits,
    fallbackReason,
  };
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
