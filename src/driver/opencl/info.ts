/**
 * What an OpenCL device says of itself: name, limits, features, and what its compiler can do. Opens nothing.
 */
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import type { DeviceInfo } from '../driver.ts';
import type { OpenCL } from './library.ts';
import { deviceText, type Listed } from './platforms.ts';
import { privateBytesPerGroup } from './private-memory.ts';
import { driverError } from './result.ts';

/** cl_device_info. */
const ATTRIBUTE = {
  maxComputeUnits: 0x1002,
  maxWorkGroupSize: 0x1004,
  maxWorkItemSizes: 0x1005,
  maxMemAllocSize: 0x1010,
  singleFpConfig: 0x101b,
  globalMemSize: 0x101f,
  maxConstantBufferSize: 0x1020,
  localMemSize: 0x1023,
  extensions: 0x1030,
  doubleFpConfig: 0x1032,
  driverVersion: 0x102d,
  version: 0x102f,
  warpSizeNvidia: 0x4003,
  wavefrontWidthAmd: 0x4043,
} as const;

const FP_FMA = 32;
const FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 128;

/** The lanes of a warp, as the kernel language has them, whatever the hardware's own width is. */
const WARP = 32;
/** Threads of a block at most, as on other devices: a program that runs on PoCL (4096) is to run on GPUs. */
const MOST_THREADS = 1024;
const MOST_ALONG = [MOST_THREADS, MOST_THREADS, 64] as const;

/** A device as it is opened. */
export interface OpenCLDevice {
  readonly listed: Listed;
  readonly info: DeviceInfo;
  readonly target: OpenCLTarget;
  /** Bytes that one allocation may have. */
  readonly maxAllocation: number;
  /** Bytes of private memory that a work-group may have; undefined where the device refuses what is too much. */
  readonly privateBytesPerGroup: number | undefined;
  /** Work items that run in lockstep: 64 or 32 on AMD, 32 on NVIDIA; undefined where the device does not say. */
  readonly waveSize: number | undefined;
  /** Kernels read and write memory of the process where it is, at the speed of the host. */
  readonly sharesHostMemory: boolean;
  /** Names the compiler: programs that it built are only good for the same. */
  readonly identity: string;
}

/** Asks a device for everything. */
export function describeDevice(cl: OpenCL, listed: Listed, index: number): OpenCLDevice {
  const out = new OutParameters(cl.ffi);
  const { device, vendor, hardware, name, platformName } = listed;
  const long = (which: number, fallback?: number): number => {
    out.set(0, 0n);
    const result = cl.clGetDeviceInfo(device, which, 8, out.at(0), 0);
    if (result === 0) return out.long(0);
    if (fallback !== undefined) return fallback;
    throw driverError(result, 'clGetDeviceInfo', name);
  };
  const result = cl.clGetDeviceInfo(device, ATTRIBUTE.maxWorkItemSizes, 24, out.at(1), 0);
  if (result !== 0) throw driverError(result, 'clGetDeviceInfo', name);
  const along = (axis: 0 | 1 | 2): number => Math.min(MOST_ALONG[axis], out.long(1 + axis));
  const maxBlockDim: [number, number, number] = [along(0), along(1), along(2)];
  const extensions = new Set(deviceText(cl, device, ATTRIBUTE.extensions).split(/\s+/));
  const single = long(ATTRIBUTE.singleFpConfig);
  const driver = deviceText(cl, device, ATTRIBUTE.driverVersion);
  const version = deviceText(cl, device, ATTRIBUTE.version);
  const wave = vendor === 'amd' ? ATTRIBUTE.wavefrontWidthAmd : ATTRIBUTE.warpSizeNvidia;
  const waveSize = hardware === 'gpu' && (vendor === 'amd' || vendor === 'nvidia') ? long(wave, 0) : 0;
  const fp64 = long(ATTRIBUTE.doubleFpConfig, 0) !== 0;
  const base = extensions.has('cl_khr_int64_base_atomics');
  return {
    listed,
    target: {
      dialect: 'opencl',
      fp64,
      int64Atomics: base ? (extensions.has('cl_khr_int64_extended_atomics') ? 'extended' : 'base') : 'none',
      fastFma: hardware === 'gpu' && (single & FP_FMA) !== 0,
      correctlyRounded: (single & FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) !== 0,
      maxConstantBytes: long(ATTRIBUTE.maxConstantBufferSize),
      positionsFirst: platformName === 'Portable Computing Language',
      roundsNaN: platformName === 'Portable Computing Language',
    },
    maxAllocation: long(ATTRIBUTE.maxMemAllocSize),
    privateBytesPerGroup: privateBytesPerGroup(listed),
    waveSize: waveSize > 0 ? waveSize : undefined,
    sharesHostMemory: hardware === 'cpu',
    identity: `${platformName}\n${name}\n${version}\n${driver}`,
    info: {
      kind: 'opencl',
      name: `${name} (${platformName})`,
      index,
      limits: {
        maxThreadsPerBlock: Math.min(MOST_THREADS, long(ATTRIBUTE.maxWorkGroupSize)),
        maxBlockDim,
        maxGridDim: [2 ** 31 - 1, 65535, 65535],
        maxSharedBytesPerBlock: long(ATTRIBUTE.localMemSize),
        warpSize: WARP,
        multiprocessors: long(ATTRIBUTE.maxComputeUnits),
        totalMemory: long(ATTRIBUTE.globalMemSize),
      },
      hardware: { type: hardware, vendor },
      f64: fp64,
      driverVersion: `${version.split(' ', 2).join(' ')}, driver ${driver}`,
      features: {
        streamOrdered: true,
        ipc: false,
        cooperative: false,
        externalStreams: false,
        mapsHostMemory: true,
        stopsKernels: false,
        hostCanWait: true,
      },
    },
  };
}
