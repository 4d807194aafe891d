/**
 * `withFaults(plan, body)`: the n-th allocation, free, copy or launch on the current device fails as planned.
 */
import { FaultInjector, type FaultKind, type FaultPlan } from '../driver/fault-injection.ts';
import { TsambaTypeError } from '../errors.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { exitAfter } from './context-manager.ts';
import { cudaDevices } from './devices.ts';

export type { FaultKind, FaultPlan } from '../driver/fault-injection.ts';

/**
 * Runs a sync or async body while planned calls on the current context fail: `withFaults({ allocate: 2 }, () => …)`. The body
 * is given the counts of calls so far. Gives what the body gives. Nests: inner plans fail first.
 */
export function withFaults<R>(plan: FaultPlan, body: (counts: Readonly<Record<FaultKind, number>>) => R): R {
  if (typeof body !== 'function') {
    throw new TsambaTypeError('E_OPTION', `withFaults takes a plan and a function to call under it, got ${show(body)}`);
  }
  const context = cudaDevices.currentContext();
  const injector = new FaultInjector(readOptions('withFaults', plan, ['allocate', 'free', 'copy', 'launch', 'error']));
  const { driver, beforeLaunch } = context;
  context.driver = injector.wrap(driver);
  context.beforeLaunch = () => {
    injector.hit('launch');
    beforeLaunch?.();
  };
  const leave = (): void => {
    context.driver = driver;
    context.beforeLaunch = beforeLaunch;
  };
  return exitAfter(leave, () => body(injector.counts));
}
