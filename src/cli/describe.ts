/**
 * The devices of a kind, described in a process of its own: looking for them loads drivers.
 */
import { DEVICE_KINDS, type DeviceInfo, type DeviceKind } from '../driver/driver.ts';
import { hardwareOf } from '../memory/device.ts';
import { openDeviceLater } from '../memory/open-devices.ts';
import { probe } from '../memory/providers.ts';
import { inChild } from './children.ts';

/** A device, as commands print it and as JSON has it. */
export interface DeviceRow {
  readonly kind: DeviceKind;
  readonly index: number;
  readonly name: string;
  readonly type: string;
  readonly vendor: string;
  /** `9.0`. */
  readonly computeCapability?: string | undefined;
  readonly memoryBytes: number;
  readonly multiprocessors: number;
  readonly threadsPerBlock: number;
  readonly sharedBytesPerBlock: number;
  readonly warpSize: number;
  readonly f64: boolean;
  readonly driver?: string | undefined;
  readonly pciBusId?: string | undefined;
  readonly uuid?: string | undefined;
  /** What the device does without here, and why. */
  readonly restriction?: string | undefined;
}

/** The devices of a kind, or why there are none. */
export interface KindReport {
  readonly kind: DeviceKind;
  readonly devices: readonly DeviceRow[];
  readonly reason?: string | undefined;
  /** Looking for them ended the process. */
  readonly crashed?: boolean | undefined;
}

/** Drivers may build caches when they are first asked. */
const TIMEOUT = 60_000;

/** In the child: describes the devices of a kind. */
export async function describeKind(kind: DeviceKind): Promise<KindReport> {
  const { provider, count, reason } = probe(kind);
  if (provider === undefined || count === 0) return { kind, devices: [], reason };
  const devices: DeviceRow[] = [];
  for (let index = 0; index < count; index++) {
    try {
      devices.push(rowOf(provider.describe?.(index) ?? (await openDeviceLater(kind, index)).driver.info));
    } catch (error) {
      return { kind, devices, reason: error instanceof Error ? error.message : String(error) };
    }
  }
  return { kind, devices };
}

function rowOf(info: DeviceInfo): DeviceRow {
  const { kind, index, name, limits, computeCapability, driverVersion, pciBusId, uuid, restriction } = info;
  const { type, vendor } = hardwareOf(info);
  return {
    kind,
    index,
    name,
    // A WebGPU adapter does not say what it is made of; software has its name.
    type: kind === 'webgpu' && !/swiftshader|llvmpipe/i.test(name) ? 'gpu' : type,
    vendor,
    computeCapability: computeCapability?.join('.'),
    memoryBytes: limits.totalMemory,
    multiprocessors: limits.multiprocessors,
    threadsPerBlock: limits.maxThreadsPerBlock,
    sharedBytesPerBlock: limits.maxSharedBytesPerBlock,
    warpSize: limits.warpSize,
    f64: info.f64 !== false,
    driver: driverVersion,
    pciBusId,
    uuid,
    restriction,
  };
}

/** All kinds, each looked for in a process of its own where a driver is loaded for it. */
export async function describeAll(kinds: readonly DeviceKind[]): Promise<readonly KindReport[]> {
  return Promise.all(
    kinds.map(async (kind): Promise<KindReport> => {
      if (DEVICE_KINDS[kind].inProcess) return describeKind(kind);
      const { value, problem, crashed } = {
        crashed: false,
        ...(await inChild<KindReport>('describe', kind, { timeout: TIMEOUT })),
      };
      return value ?? { kind, devices: [], reason: `looking for one ${problem}`, crashed };
    }),
  );
}
