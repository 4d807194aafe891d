/**
 * What runs kernels on several threads, in a module that pages load by `import()`.
 */
export { DetachedRun } from './detached.ts';
export { ThreadPool, workerDied } from './pool.ts';
export { PoolRun } from './pool-run.ts';
