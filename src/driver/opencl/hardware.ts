/**
 * Whether this machine may have a GPU, told without loading OpenCL: an implementation brings a compiler with it, which takes 50 ms and more
 * to load. For `auto`, which has no use for other devices.
 */
import { variable } from '../../environment.ts';
import { attempt, nodeModule, platformName } from '../../host/index.ts';

/** What drivers of GPUs put into /dev on Linux: NVIDIA, AMD, Windows' Linux subsystem, Arm, Qualcomm, Imagination, Vivante. */
const DRIVERS = /^(?:nvidia|kfd|dxg|mali|kgsl|pvr|galcore)/;
/** In /dev/dri: what computes without a screen. Graphics that only draw have a `card0` alone. */
const RENDERS = /^renderD/;

/** Names of files in a folder; undefined where it cannot be read. */
type List = (folder: string) => readonly string[] | undefined;

/** False where there is none for certain, and the user has named no OpenCL device. */
export function mayHaveGpu(list: List = filesIn): boolean {
  if (platformName() !== 'linux') return true;
  if (variable('TSAMBA_OPENCL_DEVICE') !== undefined || variable('TSAMBA_OPENCL_LIBRARY') !== undefined) return true;
  const devices = list('/dev');
  if (devices === undefined || devices.some((name) => DRIVERS.test(name))) return true;
  return devices.includes('dri') && (list('/dev/dri')?.some((name) => RENDERS.test(name)) ?? true);
}

function filesIn(folder: string): readonly string[] | undefined {
  return attempt(() => nodeModule('node:fs').readdirSync(folder));
}
