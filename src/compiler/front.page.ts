/**
 * What others call of the compiler proper: pages load it with a device that is opened by a promise, or when the first kernel is compiled. Until then these throw MissingPart.
 */
import { onDemand, type Part } from '../on-demand.ts';

type Compile = typeof import('./compile.ts');
type Capture = typeof import('./frontend/capture.ts');
type Print = typeof import('./ir/print.ts');

const part: Part<Compile & Capture & Print> = onDemand(async () => {
  const [compile, capture, print] = await Promise.all([
    import('./compile.ts'),
    import('./frontend/capture.ts'),
    import('./ir/print.ts'),
  ]);
  return { ...compile, ...capture, ...print };
});

export const compileKernel: Compile['compileKernel'] = (...args) => part.now().compileKernel(...args);
export const resultTypes: Compile['resultTypes'] = (...args) => part.now().resultTypes(...args);
export const showTypes: Compile['showTypes'] = (...args) => part.now().showTypes(...args);
export const captureFunction: Capture['captureFunction'] = (...args) => part.now().captureFunction(...args);
export const printKernel: Print['printKernel'] = (...args) => part.now().printKernel(...args);

export const loadFront: () => Promise<void> = part.load;
