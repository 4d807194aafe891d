/**
 * What an NVIDIA device says of itself: name, limits, features, identity. Opens nothing.
 */

import { OutParameters, textOf } from '../../ffi/out-parameters.ts';
import { type CudaDevice, pciBusId } from '../cuda-api/description.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { driverError } from '../cuda-api/result.ts';
import type { DeviceInfo, DeviceLimits } from '../driver.ts';
import { versionText } from './library.ts';

/** CUdevice_attribute. */
const ATTRIBUTE = {
  maxThreadsPerBlock: 1,
  maxBlockDim: [2, 3, 4],
  maxGridDim: [5, 6, 7],
  maxSharedPerBlock: 8,
  warpSize: 10,
  multiprocessors: 16,
  canMapHostMemory: 19,
  pciBus: 33,
  pciDevice: 34,
  pciDomain: 50,
  major: 75,
  minor: 76,
  cooperativeLaunch: 95,
  maxSharedPerBlockOptIn: 97,
  memoryPools: 115,
} as const;

/** Asks the driver, which has been initialised, for everything about a device. */
export function describeDevice(cuda: Cuda, index: number): CudaDevice {
  const out = new OutParameters(cuda.ffi);
  const check = (result: number, api: string): void => {
    if (result !== 0) throw driverError(cuda, result, api, { about: `device ${index}` });
  };
  check(cuda.cuDeviceGet(out.at(0), index), 'cuDeviceGet');
  const device = out.int(0);
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
  const memoryPools = cuda.cuMemAllocAsync !== undefined && attributeOrZero(cuda, device, ATTRIBUTE.memoryPools) !== 0;
  const limits: DeviceLimits = {
    maxThreadsPerBlock: attribute(ATTRIBUTE.maxThreadsPerBlock),
    maxBlockDim: three(ATTRIBUTE.maxBlockDim),
    maxGridDim: three(ATTRIBUTE.maxGridDim),
    maxSharedBytesPerBlock: Math.max(
      attribute(ATTRIBUTE.maxSharedPerBlock),
      attributeOrZero(cuda, device, ATTRIBUTE.maxSharedPerBlockOptIn),
    ),
    warpSize: attribute(ATTRIBUTE.warpSize),
    multiprocessors: attribute(ATTRIBUTE.multiprocessors),
    totalMemory,
  };
  const info: DeviceInfo = {
    kind: 'nvidia',
    name: nameOf(cuda, device, check),
    index,
    limits,
    computeCapability: [attribute(ATTRIBUTE.major), attribute(ATTRIBUTE.minor)],
    uuid: uuidOf(cuda, device),
    pciBusId: pciBusId(attribute(ATTRIBUTE.pciDomain), attribute(ATTRIBUTE.pciBus), attribute(ATTRIBUTE.pciDevice)),
    driverVersion: `CUDA ${versionText(cuda.version)}`,
    features: {
      streamOrdered: memoryPools,
      // Handles to memory go through Unix sockets that Windows and its Linux subsystem do not have.
      ipc: process.platform === 'linux',
      cooperative:
        cuda.cuLaunchCooperativeKernel !== undefined &&
        attributeOrZero(cuda, device, ATTRIBUTE.cooperativeLaunch) !== 0,
      externalStreams: true,
      mapsHostMemory: attribute(ATTRIBUTE.canMapHostMemory) !== 0,
      stopsKernels: false,
      hostCanWait: true,
    },
  };
  return { device, info, memoryPools };
}

/** Attributes that older drivers do not know are 0. */
function attributeOrZero(cuda: Cuda, device: number, which: number): number {
  const out = new OutParameters(cuda.ffi);
  return cuda.cuDeviceGetAttribute(out.at(0), which, device) === 0 ? out.int(0) : 0;
}

function nameOf(cuda: Cuda, device: number, check: (result: number, api: string) => void): string {
  const bytes = new Uint8Array(256);
  check(cuda.cuDeviceGetName(bytes, bytes.length, device), 'cuDeviceGetName');
  return textOf(bytes);
}

function uuidOf(cuda: Cuda, device: number): string | undefined {
  const bytes = new Uint8Array(16);
  if (cuda.cuDeviceGetUuid === undefined || cuda.cuDeviceGetUuid(bytes, device) !== 0) return undefined;
  const hex = Buffer.from(bytes).toString('hex');
  return `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')}`;
}

/** PTX ISA versions by the CUDA version that first reads them, newest first. */
const ISA_VERSIONS: readonly (readonly [cuda: number, isa: readonly [number, number]])[] = [
  [13010, [9, 1]],
  [13000, [9, 0]],
  [12090, [8, 8]],
  [12080, [8, 7]],
  [12070, [8, 6]],
  [12050, [8, 5]],
  [12040, [8, 4]],
  [12030, [8, 3]],
  [12020, [8, 2]],
  [12010, [8, 1]],
  [12000, [8, 0]],
  [11080, [7, 8]],
  [11070, [7, 7]],
  [11060, [7, 6]],
  [11050, [7, 5]],
  [11040, [7, 4]],
  [11030, [7, 3]],
  [11020, [7, 2]],
  [11010, [7, 1]],
];

/** The newest PTX ISA version that a driver of this CUDA version is known to read. PTX ISA, section "Release Notes". */
export function isaOf(version: number): readonly [number, number] {
  return ISA_VERSIONS.find(([cuda]) => version >= cuda)?.[1] ?? [7, 0];
}
