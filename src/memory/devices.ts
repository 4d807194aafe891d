/**
 * The devices of `cuda`: `TSAMBA_DEVICE`, or what the program selects; where no context is named, arrays are made here.
 *
 * `auto` takes an NVIDIA GPU; without one an AMD GPU by HIP, or a GPU by OpenCL that has f64 and whose compiler passes the probes; else
 * the CPU device. What is not an NVIDIA GPU is said once, with what was left aside and how to choose it: there is no silent fallback.
 */
import type { DeviceInfo } from '../driver/driver.ts';
import { NotSupportedError } from '../errors.ts';
import { isPage } from '../host/index.ts';
import { hardwareOf } from './device.ts';
import { type Choice, DeviceSelection, type Place } from './device-selection.ts';
import { noDevice } from './open-devices.ts';
import { mayHaveGpu, probe } from './providers.ts';

export const cudaDevices: DeviceSelection = /* @__PURE__ */ new DeviceSelection({
  namespace: 'cuda',
  variable: 'TSAMBA_DEVICE',
  readsWait: false,
  choose,
  numbered,
  numbers: 'the number of an NVIDIA GPU',
});

/** In the order of preference, after NVIDIA. */
const OTHERS = ['hip', 'opencl'] as const;

function choose(opens: (place: Place) => string | undefined): Choice {
  const { count, reason = 'none was found' } = probe('nvidia');
  if (count > 0) return { kind: 'nvidia', index: 0 };
  const left: string[] = [];
  for (const kind of OTHERS) {
    // One kind after the other: the library of a kind that is not needed is not loaded.
    for (const place of placesOf(kind)) {
      const info = described(place);
      const why = info === undefined ? 'cannot be described' : (unsuitable(info) ?? opens(place));
      if (why === undefined) return { ...place, reason, announcement: (whole) => taken(whole, info, left) };
      left.push(`${info?.name ?? `${kind} ${place.index}`} (${why}; ${howToChoose(place)})`);
    }
  }
  return { kind: 'cpu', index: 0, reason, announcement: (whole) => taken(whole, undefined, left) };
}

/** What a device says of itself; undefined where even asking fails, which must not keep a program from the CPU device. */
function described(place: Place): DeviceInfo | undefined {
  try {
    return cudaDevices.infoOf(place);
  } catch {
    return undefined;
  }
}

function placesOf(kind: Place['kind']): Place[] {
  if (!mayHaveGpu(kind)) return [];
  return Array.from({ length: probe(kind).count }, (_, index) => ({ kind, index }));
}

/** Why a program that runs on an NVIDIA GPU and on the CPU device might not run there. */
function unsuitable(info: DeviceInfo): string | undefined {
  if (hardwareOf(info).type !== 'gpu') return 'is no GPU';
  return info.f64 === false ? 'has no f64' : undefined;
}

function howToChoose({ kind, index }: Place): string {
  return index === 0 ? `TSAMBA_DEVICE=${kind} selects it` : `cuda.selectDevice('${kind}', ${index}) selects it`;
}

function taken(reason: string, info: DeviceInfo | undefined, left: readonly string[]): string {
  if (isPage()) return inPage(info);
  const where = info === undefined ? 'the CPU device' : info.name;
  const silently = `TSAMBA_DEVICE=${info?.kind ?? 'cpu'} chooses it silently`;
  const cpu = info === undefined ? '' : ', TSAMBA_DEVICE=cpu the CPU device';
  const others = left.length === 0 ? '' : `. Skipped: ${left.join(', ')}`;
  return `no NVIDIA GPU is used (${reason}): kernels run on ${where}. ${silently}${cpu}${others}`;
}

/** Nobody has opened a device, and no environment says which is meant. */
function inPage(info: DeviceInfo | undefined): string {
  const threads = cudaDevices.infoOf({ kind: 'cpu', index: 0 }).restriction;
  const how = info !== undefined || threads === undefined ? '' : `, ${threads.replace(/^and /, '')}`;
  return `no device has been opened: kernels run on ${info?.name ?? 'the CPU device'}${how}. await cuda.open('webgpu') takes the GPU, await cuda.open('cpu') the CPU device silently`;
}

function numbered(index: number, asked: string): Place {
  const { count } = probe('nvidia');
  if (index < count) return { kind: 'nvidia', index };
  const there = count === 0 ? noDevice('nvidia') : `this machine has ${count}, numbered from 0`;
  throw new NotSupportedError(
    'E_NO_GPU',
    `cuda.${asked}: there is no NVIDIA GPU ${index}: ${there}; cuda.selectDevice('cpu') selects the CPU device`,
  );
}
