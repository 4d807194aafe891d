/**
 * What a HIP device says of itself: name, architecture, limits, features, identity. Opens nothing.
 *
 * Attributes are asked for one by one: their numbers are the same from ROCm 5 to 7, the struct of all of them is not.
 */
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { switchFromEnvironment } from '../../environment.ts';
import { OutParameters, textOf } from '../../ffi/out-parameters.ts';
import { type CudaDevice, pciBusId } from '../cuda-api/description.ts';
import { driverError } from '../cuda-api/result.ts';
import type { DeviceInfo } from '../driver.ts';
import type { Hip, Runtime } from './library.ts';

/** hipDeviceAttribute_t. */
export const ATTRIBUTE = {
  canMapHostMemory: 3,
  maxBlockDim: [26, 27, 28],
  maxGridDim: [29, 30, 31],
  maxThreadsPerBlock: 56,
  multiprocessors: 63,
  pciBus: 67,
  pciDevice: 68,
  pciDomain: 69,
  maxSharedPerBlock: 74,
  warpSize: 87,
  memoryPools: 88,
} as const;

/** Warps are 32 threads in the language; what exchanges values between them goes through shared memory here. */
const WARP = 32;
/** What blocks have at most on other devices. */
const MOST_THREADS = 1024;

/** A device as it is opened. */
export interface HipDevice extends CudaDevice {
  /** Memory comes from a pool of our own (pool.ts), not from HIP's. */
  readonly ownPool: boolean;
  /** For the compiler. */
  readonly arch: string;
  readonly target: OpenCLTarget;
  /** Threads that run in lockstep: 64, or 32 from gfx10 on. */
  readonly waveSize: number;
  /** Names the device's architecture and the version of ROCm: code objects are kept under it. */
  readonly identity: string;
  readonly runtime: Runtime;
}

/** What all AMD GPUs that ROCm supports can do. */
export const HIP_TARGET: OpenCLTarget = {
  dialect: 'hip',
  fp64: true,
  int64Atomics: 'extended',
  fastFma: true,
  correctlyRounded: true,
  maxConstantBytes: 65536,
};

/** Asks the library, which has been initialised, for everything about a device. */
export function describeDevice(hip: Hip, index: number): HipDevice {
  const { cuda } = hip;
  const out = new OutParameters(hip.ffi);
  const check = (result: number, api: string): void => {
    if (result !== 0) throw driverError(cuda, result, api, { about: `device ${index}` });
  };
  check(cuda.cuDeviceGet(out.at(0), index), 'cuDeviceGet');
  const device = out.int(0);
  const optional = (which: number): number =>
    cuda.cuDeviceGetAttribute(out.at(0), which, device) === 0 ? out.int(0) : 0;
  const attribute = (which: number): number => {
    check(cuda.cuDeviceGetAttribute(out.at(0), which, device), 'cuDeviceGetAttribute');
    return out.int(0);
  };
  const three = ([x, y, z]: readonly [number, number, number]): [number, number, number] => [
    attribute(x),
    attribute(y),
    attribute(z),
  ];
  check(cuda.cuDeviceTotalMem(out.at(0), device), 'cuDeviceTotalMem');
  const totalMemory = out.long(0);
  const arch = hip.archOf(device);
  if (arch === undefined) {
    throw driverError(cuda, 1, 'hipGetDeviceProperties', { about: `device ${index} does not report its architecture` });
  }
  const poolsOfHip = cuda.cuMemAllocAsync !== undefined && optional(ATTRIBUTE.memoryPools) !== 0;
  const ownPool = !(poolsOfHip && switchFromEnvironment('TSAMBA_HIP_MALLOC_ASYNC') === true);
  const name = new Uint8Array(256);
  check(cuda.cuDeviceGetName(name, name.length, device), 'cuDeviceGetName');
  const version = versionText(hip.version);
  const info: DeviceInfo = {
    kind: 'hip',
    name: `${textOf(name) || 'AMD GPU'} (${arch.split(':', 1)[0]})`,
    index,
    limits: {
      maxThreadsPerBlock: Math.min(MOST_THREADS, attribute(ATTRIBUTE.maxThreadsPerBlock)),
      maxBlockDim: three(ATTRIBUTE.maxBlockDim),
      maxGridDim: three(ATTRIBUTE.maxGridDim),
      maxSharedBytesPerBlock: attribute(ATTRIBUTE.maxSharedPerBlock),
      warpSize: WARP,
      multiprocessors: attribute(ATTRIBUTE.multiprocessors),
      totalMemory,
    },
    uuid: uuidOf(hip, device),
    pciBusId: pciBusId(optional(ATTRIBUTE.pciDomain), optional(ATTRIBUTE.pciBus), optional(ATTRIBUTE.pciDevice)),
    driverVersion: version,
    hardware: { type: 'gpu', vendor: 'amd' },
    features: {
      streamOrdered: true,
      ipc: true,
      // Blocks that wait for each other are launched one at a time.
      cooperative: false,
      externalStreams: true,
      mapsHostMemory: optional(ATTRIBUTE.canMapHostMemory) !== 0,
      stopsKernels: false,
      hostCanWait: true,
    },
  };
  return {
    device,
    info,
    memoryPools: true,
    ownPool,
    arch,
    target: HIP_TARGET,
    waveSize: attribute(ATTRIBUTE.warpSize),
    identity: `${version} ${hip.file}`,
    runtime: { file: hip.file, version: hip.version },
  };
}

/** Sixteen characters, as rocm-smi prints them behind `GPU-`. */
function uuidOf({ cuda }: Hip, device: number): string | undefined {
  const bytes = new Uint8Array(16);
  if (cuda.cuDeviceGetUuid === undefined || cuda.cuDeviceGetUuid(bytes, device) !== 0) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  return `GPU-${/^[0-9a-fA-F]{16}$/.test(text) ? text : Buffer.from(bytes).toString('hex')}`;
}

/** `HIP 5.2.21153` of 50221153. */
export function versionText(version: number): string {
  const [major, minor] = versionParts(version);
  return `HIP ${major}.${minor}.${version % 100_000}`;
}

/** Major and minor. */
export function versionParts(version: number): readonly [number, number] {
  return [Math.floor(version / 10_000_000), Math.floor(version / 100_000) % 100];
}
