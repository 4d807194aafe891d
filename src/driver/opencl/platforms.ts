/**
 * The OpenCL devices of this machine: all platforms are asked, and the devices put in the order in which one would choose them,
 * GPUs of AMD, other GPUs, accelerators, CPUs. `TSAMBA_OPENCL_DEVICE` names one by its number in that order or by a part of its name.
 *
 * Implementations are initialised by the first call here, so threads take turns, and failures that come of threads that
 * could not are tried again. Never throws.
 */
import { variable } from '../../environment.ts';
import { OutParameters, textOf } from '../../ffi/out-parameters.ts';
import { loadOpenCL, type OpenCL } from './library.ts';
import { alone, pause } from './lock.ts';
import { CL_DEVICE_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR, describeResult } from './result.ts';

const PLATFORM_NAME = 0x902;
const DEVICE_TYPE = 0x1000;
const DEVICE_NAME = 0x102b;
const DEVICE_VENDOR = 0x102c;
const DEVICE_VERSION = 0x102f;
const DEVICE_AVAILABLE = 0x1027;
const DEVICE_COMPILER_AVAILABLE = 0x1028;
/** cl_amd_device_attribute_query: the name that people know; CL_DEVICE_NAME is the architecture, `gfx1100`. */
const DEVICE_BOARD_NAME_AMD = 0x4038;

const TYPE_CPU = 2;
const TYPE_GPU = 4;
const TYPE_ALL = 0xffffffff;

const MOST = 64;
/** Times that a platform is asked for its devices before it is believed to have none. */
const ATTEMPTS = 3;

/** What kind of hardware a device is. */
export type Hardware = 'gpu' | 'cpu' | 'other';

/** A device as the platforms list it. */
export interface Listed {
  /** The cl_platform_id and cl_device_id. */
  readonly platform: number;
  readonly device: number;
  readonly platformName: string;
  readonly name: string;
  readonly vendor: 'amd' | 'nvidia' | 'intel' | 'other';
  readonly hardware: Hardware;
}

/** The library and its devices, best first; or why there are none. */
export type Probe =
  | { readonly cl: OpenCL; readonly devices: readonly Listed[]; readonly reason?: undefined }
  | { readonly cl?: undefined; readonly devices: readonly never[]; readonly reason: string };

let probed: Probe | undefined;

/** Loads the library and walks the platforms, once. */
export function probeOpenCL(): Probe {
  probed ??= probe();
  return probed;
}

function probe(): Probe {
  try {
    const { cl, reason } = loadOpenCL();
    if (cl === undefined) return none(reason);
    return alone(() => walkPlatforms(cl));
  } catch (error) {
    return none(`OpenCL cannot be queried: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function none(reason: string): Probe {
  return { devices: [], reason };
}

/** What the free loader (ocl-icd) reads, and leaves cut at the first colon: child processes would find fewer platforms. */
const LOADER_LIST = 'OCL_ICD_FILENAMES';

function platformsOf(cl: OpenCL, ids: BigUint64Array, out: OutParameters): number {
  const list = variable(LOADER_LIST);
  const result = cl.clGetPlatformIDs(MOST, cl.ffi.address(ids), out.at(0));
  if (list !== undefined) process.env[LOADER_LIST] = list;
  return result;
}

/** All platforms' devices in order of choice. */
export function walkPlatforms(cl: OpenCL, wanted: string | undefined = variable('TSAMBA_OPENCL_DEVICE')): Probe {
  const out = new OutParameters(cl.ffi);
  const ids = new BigUint64Array(MOST);
  const result = platformsOf(cl, ids, out);
  if (result !== 0) return none(platformsReason(result));
  const devices: Listed[] = [];
  const empty: string[] = [];
  for (let k = 0; k < Math.min(out.int(0), MOST); k++) {
    const platform = Number(ids[k]);
    const name = platformText(cl, platform);
    const { found, why } = devicesOf(cl, platform, name);
    devices.push(...found);
    if (found.length === 0) empty.push(`${name}: ${why}`);
  }
  if (devices.length === 0) {
    if (empty.length === 0) return none(platformsReason(CL_PLATFORM_NOT_FOUND_KHR));
    return none(`OpenCL is installed, but no platform has a device (${empty.join('; ')}): run clinfo -l`);
  }
  return chosen(
    cl,
    devices.toSorted((a, b) => rank(a) - rank(b)),
    wanted,
  );
}

function platformsReason(result: number): string {
  if (result !== CL_PLATFORM_NOT_FOUND_KHR) return `clGetPlatformIDs: ${describeResult(result)}`;
  return (
    `${describeResult(result)}: the OpenCL loader is there, but no implementation is: install the one of your GPU, ` +
    'or one for CPUs (Debian: pocl-opencl-icd)'
  );
}

function platformText(cl: OpenCL, platform: number): string {
  const bytes = new Uint8Array(256);
  return cl.clGetPlatformInfo(platform, PLATFORM_NAME, bytes.length, bytes, 0) === 0
    ? textOf(bytes)
    : 'OpenCL platform';
}

function devicesOf(cl: OpenCL, platform: number, platformName: string): { found: Listed[]; why: string } {
  const out = new OutParameters(cl.ffi);
  const ids = new BigUint64Array(MOST);
  let result = CL_DEVICE_NOT_FOUND;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    result = cl.clGetDeviceIDs(platform, TYPE_ALL, MOST, cl.ffi.address(ids), out.at(0));
    // A GPU's platform without its GPU says the same, at once; a thread that came too early gets it as well.
    if (result !== CL_DEVICE_NOT_FOUND) break;
    pause(2 ** attempt);
  }
  if (result !== 0) {
    const writable = platformName.includes('Portable Computing Language')
      ? ', or it cannot write its cache: set POCL_CACHE_DIR'
      : '';
    return { found: [], why: `${describeResult(result)}${writable}` };
  }
  const found: Listed[] = [];
  let why = 'no device that compiles OpenCL C 1.2';
  for (let k = 0; k < Math.min(out.int(0), MOST); k++) {
    const device = Number(ids[k]);
    if (usable(cl, device)) found.push(list(cl, platform, platformName, device));
    else why = `${deviceText(cl, device, DEVICE_NAME)} is not available or knows no OpenCL C 1.2`;
  }
  return { found, why };
}

function usable(cl: OpenCL, device: number): boolean {
  const flag = (which: number): boolean => {
    const cell = new Uint32Array(2);
    return cl.clGetDeviceInfo(device, which, 4, new Uint8Array(cell.buffer), 0) === 0 && cell[0] !== 0;
  };
  const [, major = '0', minor = '0'] = /^OpenCL (\d+)\.(\d+)/.exec(deviceText(cl, device, DEVICE_VERSION)) ?? [];
  const recent = Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 2);
  return recent && flag(DEVICE_AVAILABLE) && flag(DEVICE_COMPILER_AVAILABLE);
}

function list(cl: OpenCL, platform: number, platformName: string, device: number): Listed {
  const out = new OutParameters(cl.ffi);
  const type = cl.clGetDeviceInfo(device, DEVICE_TYPE, 8, out.at(0), 0) === 0 ? out.int(0) : 0;
  const hardware: Hardware = (type & TYPE_GPU) !== 0 ? 'gpu' : (type & TYPE_CPU) !== 0 ? 'cpu' : 'other';
  const vendorText = deviceText(cl, device, DEVICE_VENDOR);
  const vendor = vendorOf(`${vendorText} ${platformName}`);
  const chip = deviceText(cl, device, DEVICE_NAME);
  const board = vendor === 'amd' && hardware === 'gpu' ? deviceText(cl, device, DEVICE_BOARD_NAME_AMD) : '';
  const name = board === '' ? chip : `${board} (${chip})`;
  return { platform, device, platformName, name, vendor, hardware };
}

function vendorOf(text: string): Listed['vendor'] {
  if (/advanced micro devices|\bamd\b/i.test(text)) return 'amd';
  if (/nvidia/i.test(text)) return 'nvidia';
  return /intel/i.test(text) ? 'intel' : 'other';
}

/** A text that a device says of itself; empty where it says nothing. */
export function deviceText(cl: OpenCL, device: number, which: number): string {
  const bytes = new Uint8Array(4096);
  return cl.clGetDeviceInfo(device, which, bytes.length, bytes, 0) === 0 ? textOf(bytes).trim() : '';
}

function rank({ vendor, hardware }: Listed): number {
  if (hardware === 'gpu') return vendor === 'amd' ? 0 : 1;
  return hardware === 'other' ? 2 : 3;
}

/** The device that the environment names comes first, alone. */
function chosen(cl: OpenCL, devices: readonly Listed[], given: string | undefined): Probe {
  const wanted = given?.trim() ?? '';
  if (wanted === '') return { cl, devices };
  const fits = ({ name, platformName }: Listed): boolean =>
    `${platformName} ${name}`.toLowerCase().includes(wanted.toLowerCase());
  const device = /^\d+$/.test(wanted) ? devices[Number(wanted)] : devices.find(fits);
  if (device !== undefined) return { cl, devices: [device] };
  const all = devices.map(({ name }, k) => `${k} ${name}`).join(', ');
  return none(`TSAMBA_OPENCL_DEVICE=${wanted} names no device; there are: ${all}`);
}
