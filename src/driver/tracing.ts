/**
 * A driver that prints what passes it: allocations, copies and launches, with sizes and times, as `TSAMBA_DEBUG=memory,copy,launch` asks.
 *
 * It stands in front of another one only where that is asked for, so that nothing is spent otherwise. Times are the host's: of work that
 * is enqueued, how long enqueueing took.
 */
import { showTime } from '../show-time.ts';
import { trace, tracing } from '../trace.ts';
import type {
  DeviceDriver,
  DeviceSide,
  Executable,
  HostSide,
  LaunchArgs,
  LaunchShape,
  Program,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from './driver.ts';
import { describeLaunch, kernelLabel } from './launch-errors.ts';

type Method = (...args: unknown[]) => unknown;
type Loading = (program: Program) => Executable | Promise<Executable>;

/** What is printed of each call, by the word that asks for it. */
const WORDS: ReadonlyMap<string, 'memory' | 'copy'> = new Map([
  ['allocate', 'memory'],
  ['free', 'memory'],
  ['allocateHost', 'memory'],
  ['freeHost', 'memory'],
  ['registerHost', 'memory'],
  ['unregisterHost', 'memory'],
  ['copyToDevice', 'copy'],
  ['copyToHost', 'copy'],
  ['copyOnDevice', 'copy'],
  ['copyToDeviceStrided', 'copy'],
  ['copyToHostStrided', 'copy'],
  ['copyToHostLater', 'copy'],
  ['copyOnDeviceStrided', 'copy'],
  ['copyFromPeer', 'copy'],
  ['fillStrided', 'copy'],
]);

/** The driver itself, or one in front of it that prints what `TSAMBA_DEBUG` asks for. */
export function traced(driver: DeviceDriver): DeviceDriver {
  const words = (['memory', 'copy', 'launch', 'compile'] as const).filter(tracing);
  if (words.length === 0) return driver;
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      let method = methods.get(name);
      if (method === undefined) {
        // Drivers have private fields, which a proxy as `this` cannot reach.
        method = intercept(target, String(name), (...args) => (value as Method).apply(target, args));
        methods.set(name, method);
      }
      return method;
    },
  });
}

function intercept(driver: DeviceDriver, name: string, method: Method): Method {
  if (name === 'load') return (program) => load(driver, program as Program, method as Loading);
  if (name === 'loadLater') return (program) => load(driver, program as Program, method as Loading);
  const word = WORDS.get(name);
  if (word === undefined || !tracing(word)) return method;
  return (...args) => {
    const start = performance.now();
    const result = method(...args);
    const given = result === undefined || result instanceof Promise ? '' : ` → ${showOperand(result)}`;
    trace(word, () => `${name}(${args.map(showOperand).join(', ')})${given}: ${showTime(performance.now() - start)}`);
    return result;
  };
}

/** Loads a kernel whose launches are printed; `loadLater` gives a promise of it. */
function load(driver: DeviceDriver, program: Program, method: Loading): Executable | Promise<Executable> {
  const name = kernelLabel(program.kernel);
  const start = performance.now();
  const done = (executable: Executable): Executable => {
    trace('compile', () => `${name}: loaded on ${driver.info.name}: ${showTime(performance.now() - start)}`);
    return tracing('launch') ? printed(executable, name) : executable;
  };
  const loaded = method(program);
  return loaded instanceof Promise ? loaded.then(done) : done(loaded);
}

function printed(executable: Executable, name: string): Executable {
  const launch = executable.launch.bind(executable);
  executable.launch = (shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void => {
    const started = performance.now();
    launch(shape, args, stream);
    trace('launch', () => `${name} with ${describeLaunch(shape)}: ${showTime(performance.now() - started)}`);
  };
  return executable;
}

type Side = DeviceSide | HostSide;

/** Bytes by their number, strided elements by their shape, addresses in hexadecimal. */
function showOperand(operand: unknown): string {
  if (operand instanceof Uint8Array) return `${operand.length} bytes`;
  if (typeof operand === 'number' || typeof operand === 'bigint') return showNumber(operand);
  if (Array.isArray(operand)) return `[${operand.join(', ')}]`;
  if (typeof operand !== 'object' || operand === null) return String(operand);
  if ('target' in operand && 'shape' in operand)
    return showElements(operand as StridedCopy<Side, Side> | StridedFill<Side>);
  if ('bytes' in operand && operand.bytes instanceof Uint8Array) return `${operand.bytes.length} bytes of the host`;
  if ('stream' in operand) return 'a stream';
  return 'info' in operand ? 'another device' : 'options';
}

function showElements(work: StridedCopy<Side, Side> | StridedFill<Side>): string {
  const [itemSize, from] =
    'pattern' in work ? [work.pattern.length, ''] : [work.itemSize, ` from ${showSide(work.source)}`];
  return `[${work.shape.join(', ')}] of ${itemSize} bytes${from} to ${showSide(work.target)}`;
}

function showSide(side: Side): string {
  const where =
    'pointer' in side ? showNumber(side.pointer) : `${side.bytes.length} bytes of the host + ${side.offset}`;
  return `${where} by [${side.strides.join(', ')}]`;
}

/** Small numbers are sizes, large ones addresses. */
function showNumber(value: number | bigint): string {
  return value < 2 ** 40 ? String(value) : `0x${value.toString(16)}`;
}
