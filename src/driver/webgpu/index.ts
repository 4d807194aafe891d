/**
 * The provider of WebGPU devices: GPUs of the page, of Deno, and of Node.js by Dawn. Loads nothing before it is asked. They open by a promise,
 * `await cuda.open('webgpu')`, and in Node.js at once, for who waits.
 */
import type { Abilities } from '../../compiler/render/wgsl/module.ts';
import { NotSupportedError } from '../../errors.ts';
import type { DeviceInfo, DriverProvider } from '../driver.ts';
import { given } from './answer.ts';
import type { GpuDevice, GpuInfo, GpuLimits } from './api.ts';
import { WebGpuDriver } from './device.ts';
import { findGpu, whyNoGpu } from './door.ts';
import { examine } from './examining.ts';
import { hardwareOf, mayCutLoops } from './hardware.ts';
import { wgslCode } from './offline.ts';
import { openWaiting } from './own-thread.ts';

/** Limits that are asked for as far as the adapter has them. */
const LIMITS: readonly (keyof GpuLimits)[] = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
  'maxTextureDimension2D',
];

/** Features that are asked for as far as the adapter has them. */
const FEATURES: readonly string[] = ['timestamp-query', 'subgroups', 'shader-f16'];

export const webgpuProvider: DriverProvider = {
  kind: 'webgpu',
  opensLater: true,
  offline: [wgslCode],
  // Whether there is an adapter is only known by asking for one, which takes a promise.
  probe: () => {
    const reason = whyNoGpu();
    return reason === undefined ? { count: 1 } : { count: 0, reason };
  },
  open: openWebGpu,
  openNow: () =>
    openWaiting(LIMITS, FEATURES, {
      describe: (device) => infoOf(device.info, device, true),
      examine: (device) => abilitiesOf(device, device.info),
      none: noAdapter,
      refused: (cause) => refusal('opening it', cause),
    }),
};

function noAdapter(): NotSupportedError {
  return new NotSupportedError(
    'E_NO_DEVICE',
    "there is no WebGPU device: the browser, or the driver of the graphics card, offers no adapter; cuda.selectDevice('cpu') runs without one",
  );
}

async function openWebGpu(): Promise<WebGpuDriver> {
  const gpu = await refusedBy('loading it', findGpu());
  const adapter = await refusedBy('requestAdapter', gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (adapter === null) throw noAdapter();
  const features = FEATURES.filter((name) => adapter.features.has(name));
  const limits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const options = { requiredFeatures: features, requiredLimits: limits };
  const device = await refusedBy('requestDevice', adapter.requestDevice(options));
  try {
    return new WebGpuDriver(device, infoOf(adapter.info, device, false), await abilitiesOf(device, adapter.info));
  } catch (error) {
    device.destroy();
    throw error;
  }
}

/** What the device can do beyond what it must. Rejects with why kernels must not run on it. */
function abilitiesOf(device: GpuDevice, info: GpuInfo = {}): PromiseLike<Abilities> {
  const rounds = mayCutLoops(info);
  const warps = device.features.has('subgroups') && info.subgroupMinSize === 32 && info.subgroupMaxSize === 32;
  // SwiftShader's packing of halves takes longer than integer operations do.
  const halves = hardwareOf(info).type === 'gpu' || device.features.has('shader-f16');
  return rounds || warps || halves ? examine({ device, name: nameOf(info), rounds, warps, halves }) : given({});
}

/** What WebGPU gives; what it rejects with, as an error of ours. */
async function refusedBy<T>(call: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw refusal(call, cause);
  }
}

function refusal(call: string, cause: unknown): NotSupportedError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `there is no WebGPU device: ${call} failed: ${why}; try again later, or cuda.selectDevice('cpu') runs without one`;
  return new NotSupportedError('E_NO_DEVICE', text, { cause });
}

/** Buffers that a device is said to have memory for: WebGPU does not tell. */
const BUFFERS = 4;

function nameOf({ description, device, vendor, architecture }: GpuInfo): string {
  return description || device || [vendor, architecture].filter(Boolean).join(' ') || 'GPU';
}

function infoOf(info: GpuInfo = {}, { limits }: GpuDevice, hostCanWait: boolean): DeviceInfo {
  return {
    kind: 'webgpu',
    name: `${nameOf(info)} (WebGPU)`,
    index: 0,
    limits: {
      maxThreadsPerBlock: limits.maxComputeInvocationsPerWorkgroup,
      maxBlockDim: [limits.maxComputeWorkgroupSizeX, limits.maxComputeWorkgroupSizeY, limits.maxComputeWorkgroupSizeZ],
      maxGridDim: [2 ** 31 - 1, 65_535, 65_535],
      maxSharedBytesPerBlock: limits.maxComputeWorkgroupStorageSize,
      warpSize: 32,
      multiprocessors: 16,
      totalMemory: BUFFERS * limits.maxBufferSize,
    },
    hardware: hardwareOf(info),
    f64: false,
    features: {
      streamOrdered: false,
      ipc: false,
      cooperative: false,
      externalStreams: false,
      mapsHostMemory: false,
      stopsKernels: false,
      hostCanWait,
    },
  };
}
