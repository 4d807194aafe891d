/**
 * What others call of the compiler proper: pages load it with a device that is opened by a promise, or when the first kernel is compiled. Until then these throw MissingPart.
 */
import { fetchUsual, onDemand, type Part } from '../on-demand.ts';

type Compiling = typeof import('./compiling.ts');

const part: Part<Compiling> = onDemand(() => import('./compiling.ts'));

/** What simple kernels lack. */
const BEYOND_SIMPLE = /\b(?:for|while|do|shared|atomic|floor|round|min|max|sin|cos|exp|log|pow)\b/;

export const compileKernel: Compiling['compileKernel'] = (...args) => part.now().compileKernel(...args);
export const resultTypes: Compiling['resultTypes'] = (...args) => part.now().resultTypes(...args);
export const showTypes: Compiling['showTypes'] = (...args) => part.now().showTypes(...args);
export const captureFunction: Compiling['captureFunction'] = (fn, ...more) => {
  if (BEYOND_SIMPLE.test(Function.prototype.toString.call(fn))) fetchUsual();
  return part.now().captureFunction(fn, ...more);
};
export const freeNames: Compiling['freeNames'] = (...args) => part.now().freeNames(...args);
export const printKernel: Compiling['printKernel'] = (...args) => part.now().printKernel(...args);

export const loadFront: () => Promise<void> = part.load;
