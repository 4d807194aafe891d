/**
 * What compiles kernels for the CPU device and runs them, in a module that pages load by `import()`.
 */
export { Engine } from './engine.ts';
export { CpuExecutable } from './executable.ts';
