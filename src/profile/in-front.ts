/**
 * A driver in front of another one that tells whoever looks of copies, fills, products and waits. It stands there while somebody looks; where
 * something keeps it for longer it passes calls on.
 */
import type {
  DeviceDriver,
  DeviceSide,
  HostSide,
  MatrixProduct,
  Pointer,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from '../driver/driver.ts';
import { type CopyDirection, type EventKind, type Observed, observing } from './observing.ts';

type Method = (...args: unknown[]) => unknown;

/** What a call does, by its arguments. */
interface Call {
  readonly kind: EventKind;
  readonly name: string;
  readonly direction?: CopyDirection;
  /** Which argument is the stream. */
  readonly stream: number;
  readonly bytes?: (args: readonly unknown[]) => number;
  /** It gives a promise, and enqueues reads of the host. */
  readonly later?: true;
}

type Copy = StridedCopy<DeviceSide | HostSide, DeviceSide | HostSide>;

const elements = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
const lengthOf =
  (at: number) =>
  (args: readonly unknown[]): number =>
    (args[at] as Uint8Array).length;
const strided = ([copy]: readonly unknown[]): number => elements((copy as Copy).shape) * (copy as Copy).itemSize;
const numberAt =
  (at: number) =>
  (args: readonly unknown[]): number =>
    args[at] as number;

const TO_DEVICE = { kind: 'copy', name: 'copy host to device', direction: 'hostToDevice' } as const;
const TO_HOST = { kind: 'copy', name: 'copy device to host', direction: 'deviceToHost' } as const;
const ON_DEVICE = { kind: 'copy', name: 'copy device to device', direction: 'deviceToDevice' } as const;

/** What enqueues work. */
const ENQUEUING: ReadonlyMap<PropertyKey, Call> = new Map<PropertyKey, Call>([
  ['copyToDevice', { ...TO_DEVICE, stream: 2, bytes: lengthOf(1) }],
  ['copyToHost', { ...TO_HOST, stream: 2, bytes: lengthOf(0) }],
  ['copyOnDevice', { ...ON_DEVICE, stream: 3, bytes: numberAt(2) }],
  ['copyToDeviceStrided', { ...TO_DEVICE, stream: 1, bytes: strided }],
  ['copyToHostStrided', { ...TO_HOST, stream: 1, bytes: strided }],
  ['copyToHostLater', { ...TO_HOST, stream: 1, bytes: strided, later: true }],
  ['copyOnDeviceStrided', { ...ON_DEVICE, stream: 1, bytes: strided }],
  ['copyFromPeer', { ...ON_DEVICE, name: 'copy from another device', stream: 4, bytes: numberAt(3) }],
  [
    'fillStrided',
    {
      kind: 'fill',
      name: 'fill',
      stream: 1,
      bytes: ([fill]) => {
        const { shape, pattern } = fill as StridedFill<DeviceSide>;
        return elements(shape) * pattern.length;
      },
    },
  ],
  ['multiply', { kind: 'product', name: 'product of matrices', stream: 1 }],
]);

/** What blocks the host. */
const WAITING: ReadonlyMap<PropertyKey, string> = new Map([
  ['synchronize', 'synchronize'],
  ['synchronizeStream', 'synchronize a stream'],
  ['synchronizeEvent', 'synchronize an event'],
  ['reachEvent', 'wait for an event'],
]);

/** What stands behind such a driver. */
const behind = new WeakMap<DeviceDriver, DeviceDriver>();

/** The driver behind one that `inFront` made; any other is itself. */
export function unobserved(driver: DeviceDriver): DeviceDriver {
  return behind.get(driver) ?? driver;
}

/** What is told of memory, of streams that wait, and of the end of a device. */
export interface Noticed {
  allocated(context: Observed, bytes: number): void;
  changed(context: Observed): void;
  /** A stream of it waits for another. */
  waiting(driver: DeviceDriver): void;
  closing(driver: DeviceDriver): void;
}

/** Puts a driver before that of a context, which tells of the calls. */
export function inFront(context: Observed, noticed: Noticed): DeviceDriver {
  const driver = unobserved(context.driver);
  const methods = new Map<PropertyKey, unknown>();
  const made = new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      let method = methods.get(name);
      if (method === undefined) {
        // Drivers have private fields, which a proxy as `this` cannot reach.
        const plain: Method = (...args) => (value as Method).apply(target, args);
        method = around(context, noticed, name, plain);
        methods.set(name, method);
      }
      return method;
    },
  });
  behind.set(made, driver);
  return made;
}

function around(context: Observed, noticed: Noticed, name: PropertyKey, plain: Method): Method {
  const call = ENQUEUING.get(name);
  if (call !== undefined) return enqueuing(context, noticed, call, plain);
  const waiting = WAITING.get(name);
  if (waiting !== undefined) {
    return (...args) => {
      const observer = observing.current;
      if (observer === undefined) return plain(...args);
      return observer.spend({ kind: 'wait', name: waiting, context }, () => plain(...args));
    };
  }
  if (name === 'allocate') {
    return (...args) => {
      const pointer = plain(...args) as Pointer;
      noticed.allocated(context, args[0] as number);
      return pointer;
    };
  }
  if (name === 'waitEvent') {
    return (...args) => {
      noticed.waiting(unobserved(context.driver));
      plain(...args);
    };
  }
  if (name === 'close') {
    return () => {
      noticed.closing(unobserved(context.driver));
      plain();
    };
  }
  return plain;
}

function enqueuing(context: Observed, noticed: Noticed, call: Call, plain: Method): Method {
  const { kind, name, direction, later } = call;
  return (...given) => {
    // Devices know each other by what they are, not by what stands before them.
    const args = given.map((each) => behind.get(each as DeviceDriver) ?? each);
    const observer = observing.current;
    if (observer === undefined) return plain(...args);
    noticed.changed(context);
    const bytes = call.bytes?.(args);
    const stream = args[call.stream] as StreamHandle | undefined;
    const detail = kind === 'product' ? sizeOf(args[0] as MatrixProduct) : undefined;
    const result = observer.enqueue({ kind, name, context, stream, bytes, direction, detail }, () => plain(...args));
    if (later !== true) return result;
    const end = observer.begin({ kind: 'wait', name: 'await a copy to the host', context });
    (result as Promise<void>).then(() => end(), end);
    return result;
  };
}

const sizeOf = ({ m, n, k, count }: MatrixProduct): Record<string, number> => ({ m, n, k, count });
