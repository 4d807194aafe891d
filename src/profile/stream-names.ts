/**
 * What streams are called in profiles: what the program calls them, or a number in the order in which they were first seen.
 */
import type { DeviceDriver, StreamHandle } from '../driver/driver.ts';

interface Known {
  /** What stands for the default stream in handles, where it has one. */
  readonly default: unknown;
  readonly names: WeakMap<object, string>;
  count: number;
}

const drivers = new WeakMap<DeviceDriver, Known>();

const DEFAULT = 'default stream';

/** The name of a stream; undefined is the default stream. */
export function streamName(driver: DeviceDriver, builtin: boolean, stream: StreamHandle | undefined): string {
  if (stream === undefined) return DEFAULT;
  const known = knownOf(driver, builtin);
  const key = stream.stream;
  if (key === known.default || typeof key !== 'object' || key === null) return DEFAULT;
  let name = known.names.get(key);
  if (name === undefined) {
    name = `stream ${++known.count}`;
    known.names.set(key, name);
  }
  return name;
}

/** Calls a stream so from now on. */
export function nameStream(driver: DeviceDriver, builtin: boolean, stream: StreamHandle, name: string): void {
  const key = stream.stream;
  if (typeof key === 'object' && key !== null) knownOf(driver, builtin).names.set(key, name);
}

function knownOf(driver: DeviceDriver, builtin: boolean): Known {
  let known = drivers.get(driver);
  if (known === undefined) {
    known = { default: builtin ? driver.builtinStream('legacy').stream : undefined, names: new WeakMap(), count: 0 };
    drivers.set(driver, known);
  }
  return known;
}
