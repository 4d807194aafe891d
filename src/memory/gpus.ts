/**
 * `cuda.gpus` and `cuda.detect()`: the NVIDIA GPUs of this machine, listed without opening any.
 *
 * The list is an array that fills itself when it is first looked at, so that importing Tsamba loads no driver.
 */
import { hostOnly } from '../compiler/intrinsics.ts';
import { print } from '../host/index.ts';
import type { Device } from './device.ts';
import { cudaDevices } from './devices.ts';
import { lazyList } from './lazy-list.ts';
import { knownKinds, probe } from './providers.ts';

/** Older GPUs cannot run the code that is made for them. */
const LEAST_CAPABILITY = 5;

/** Looks at the machine once, and again where it saw no GPU: a driver may have been registered since. */
function fill(list: Device[]): Device[] {
  if (list.length > 0) return list;
  const { count } = probe('nvidia');
  for (let index = 0; index < count; index++) list.push(cudaDevices.describe({ kind: 'nvidia', index }));
  return list;
}

/**
 * The NVIDIA GPUs of this machine; devices of other kinds are not in it. Looked for when it is first read; none is opened.
 * `cuda.gpus[1].activate(() => …)` computes on one. Numba: `cuda.gpus`.
 * @example
 * console.log(cuda.gpus.map(({ name }) => name));
 */
export const gpus: readonly Device[] = /* @__PURE__ */ lazyList(fill);

function available(): boolean {
  return probe('nvidia').count > 0;
}

/**
 * Whether there is an NVIDIA GPU that can be used. Never throws. Numba: `is_available()`.
 * @example
 * if (!cuda.isAvailable()) console.log('without a GPU the CPU device computes');
 */
export const isAvailable: typeof available = /* @__PURE__ */ hostOnly('cuda.isAvailable', available);

function printDevices(): boolean {
  const { count, reason } = probe('nvidia');
  const [first] = gpus;
  const driver = first?.driverVersion === undefined ? '' : `, driver for ${first.driverVersion}`;
  const lines = [
    `Found ${count} NVIDIA ${count === 1 ? 'GPU' : 'GPUs'}${reason === undefined ? driver : `: ${reason}`}`,
  ];
  for (const gpu of gpus) lines.push(`  ${line(gpu)}`);
  for (const kind of knownKinds()) {
    if (kind === 'nvidia') continue;
    const other = probe(kind);
    lines.push(`${kind}: ${other.count > 0 ? 'usable' : `not usable: ${other.reason ?? 'no device'}`}`);
  }
  print(lines.join('\n'));
  return isAvailable();
}

/**
 * Prints the devices that there are, and returns whether one of them is an NVIDIA GPU. Numba: `detect()`.
 * @example
 * const found: boolean = cuda.detect();
 */
export const detect: typeof printDevices = /* @__PURE__ */ hostOnly('cuda.detect', printDevices);

/** `gpu 0: NVIDIA H200, compute capability 9.0, 139.8 GiB, PCI 0000:3b:00.0, GPU-…: usable`. */
function line({ index, name, computeCapability = [0, 0], limits, pciBusId, uuid }: Device): string {
  const [major, minor] = computeCapability;
  const memory = `${(limits.totalMemory / 2 ** 30).toFixed(1)} GiB`;
  const facts = [name, `compute capability ${major}.${minor}`, memory];
  if (pciBusId !== undefined) facts.push(`PCI ${pciBusId}`);
  if (uuid !== undefined) facts.push(uuid);
  const verdict = major >= LEAST_CAPABILITY ? 'usable' : `not usable: needs compute capability ${LEAST_CAPABILITY}.0`;
  return `gpu ${index}: ${facts.join(', ')}: ${verdict}`;
}
