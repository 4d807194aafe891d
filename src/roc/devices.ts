/**
 * The devices of `roc`: `TSAMBA_ROC_DRIVER`, or what the program selects.
 *
 * `auto` takes an AMD GPU by OpenCL, else one by HIP, else another GPU by OpenCL, else OpenCL on the CPU, else the CPU device; without a GPU
 * `currentDevice().fallbackReason` says why, and the CPU device says so once. An NVIDIA GPU is taken by its own driver where it is asked for.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import { type DeviceInfo, type DeviceKind, KIND_NAMES } from '../driver/driver.ts';
import { NotSupportedError } from '../errors.ts';
import { type Device, hardwareOf } from '../memory/device.ts';
import { type Choice, DeviceSelection, type Place } from '../memory/device-selection.ts';
import { noDevice } from '../memory/open-devices.ts';
import { probe } from '../memory/providers.ts';

/** A device of `roc`. Numba's `Agent`. */
export type Agent = Device;
/** The kinds of devices that `roc` computes on. */
export type RocKind = DeviceKind;

export const rocDevices: DeviceSelection = /* @__PURE__ */ new DeviceSelection({
  namespace: 'roc',
  variable: 'TSAMBA_ROC_DRIVER',
  readsWait: true,
  choose,
  numbered,
  numbers: 'the number of one of roc.agents',
});

/** In the order of preference. */
const ACCELERATORS = ['opencl', 'hip'] as const;

/** Every device that `roc` can compute on, those by OpenCL and HIP first. */
export function places(): Place[] {
  return [...new Set([...ACCELERATORS, ...KIND_NAMES])].flatMap(placesOf);
}

/**
 * Whether there is an OpenCL or HIP device. Never throws. Numba: `roc.is_available()`.
 * @example
 * if (!roc.isAvailable()) console.log('without a GPU the CPU device computes');
 */
export const isAvailable: () => boolean = /* @__PURE__ */ hostFunction(rocDevices, 'isAvailable', () =>
  ACCELERATORS.some((kind) => probe(kind).count > 0),
);

function placesOf(kind: DeviceKind): Place[] {
  const { count, provider } = probe(kind);
  return provider?.opensLater ? [] : Array.from({ length: count }, (_, index) => ({ kind, index }));
}

/** Smaller is better. */
function rank(info: DeviceInfo): number {
  if (info.kind === 'hip') return 1;
  const { type, vendor } = hardwareOf(info);
  if (type === 'gpu') return vendor === 'amd' ? 0 : 2;
  return 3;
}

function choose(): Choice {
  const [best] = ACCELERATORS.flatMap(placesOf)
    .map((place) => ({ place, rank: rank(rocDevices.infoOf(place)) }))
    .sort((a, b) => a.rank - b.rank);
  if (best !== undefined) {
    return best.rank < 3 ? best.place : { ...best.place, reason: 'there is no GPU by OpenCL, and none by HIP' };
  }
  const reason = ACCELERATORS.map(noDevice).join('; ');
  const announcement = (whole: string): string =>
    `roc runs on the CPU device: ${whole}. TSAMBA_ROC_DRIVER=cpu chooses it silently`;
  return { kind: 'cpu', index: 0, reason, announcement };
}

function numbered(index: number, asked: string): Place {
  const all = places();
  const place = all[index];
  if (place !== undefined) return place;
  throw new NotSupportedError(
    'E_NO_DEVICE',
    `roc.${asked}: there are ${all.length} agents, numbered from 0: roc.agents`,
  );
}
