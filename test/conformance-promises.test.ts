/**
 * The asynchronous half of the conformance suite, on a device that answers only through promises.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({
  title: 'promises',
  device: 'cpu',
  // Its kernels run on the thread of the event loop, and no timer fires meanwhile.
  without: ['asynchronous launches and timeouts: an awaited kernel that takes too long rejects with E_TIMEOUT'],
  open: async () => {
    const { Context } = await import('../src/memory/context.ts');
    const { cudaDevices } = await import('../src/memory/devices.ts');
    const { OpenDevice } = await import('../src/memory/open-device.ts');
    const { rocDevices } = await import('../src/roc/devices.ts');
    const { PromiseDriver } = await import('./support/promise-driver.ts');
    const device = new OpenDevice(new PromiseDriver());
    cudaDevices.enter(new Context(device));
    rocDevices.enter(new Context(device, { namespace: 'roc', readsWait: true }));
  },
});
