/**
 * What others call of the compiler proper, in a module that pages load by `import()`.
 */
export { compileKernel, resultTypes, showTypes } from './compile.ts';
export { captureFunction } from './frontend/capture.ts';
export { freeNames } from './frontend/free-names.ts';
export { printKernel } from './ir/print.ts';
