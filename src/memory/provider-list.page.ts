/**
 * The providers of the devices that pages have: the CPU device is there at once, others are loaded when they are opened. What calls libraries of the system is not among them.
 */
import { loadFront } from '../compiler/front.page.ts';
import { cpuProvider } from '../driver/cpu/index.ts';
import type { DriverProvider } from '../driver/driver.ts';
import { whyNoGpu } from '../driver/webgpu/door.ts';
import { loadParts } from '../on-demand.ts';

/** A provider that is loaded when a device is opened. */
function loaded(
  kind: DriverProvider['kind'],
  whyNone: () => string | undefined,
  load: () => Promise<DriverProvider>,
): DriverProvider {
  let provider: DriverProvider | undefined;
  return {
    kind,
    opensLater: true,
    probe: () => {
      const reason = whyNone();
      return reason === undefined ? { count: 1 } : { count: 0, reason };
    },
    get offline() {
      return provider?.offline;
    },
    open: async (index) => {
      // Who opens a device goes on to compile kernels.
      [provider] = await Promise.all([provider ?? load(), loadFront()]);
      return provider.open(index);
    },
  };
}

export const PROVIDERS: readonly DriverProvider[] = [
  cpuProvider,
  loaded(
    'simulator',
    () => undefined,
    async () => {
      const [{ simulatorProvider }] = await Promise.all([import('../driver/simulator/index.ts'), loadParts()]);
      return simulatorProvider;
    },
  ),
  loaded('webgpu', whyNoGpu, async () => (await import('../driver/webgpu/index.ts')).webgpuProvider),
];
