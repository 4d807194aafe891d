/**
 * `roc.agents`: the devices that `roc` can compute on, looked for when the list is first read.
 */
import { lazyList } from '../memory/lazy-list.ts';
import { type Agent, places, rocDevices } from './devices.ts';

/**
 * The devices of `roc`: OpenCL and HIP devices, NVIDIA GPUs, the CPU device and the simulator. `roc.agents[0].activate(() => …)` computes
 * on one. Numba: `roc.agents`.
 * @example
 * console.log(roc.agents.some(({ kind }) => kind === 'cpu')); // true
 */
export const agents: readonly Agent[] = /* @__PURE__ */ lazyList<Agent>((list) => {
  if (list.length === 0) list.push(...places().map((place) => rocDevices.describe(place)));
  return list;
});
