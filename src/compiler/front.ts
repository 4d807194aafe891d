/**
 * What others call of the compiler proper: reading a function, compiling it, and printing what became of it.
 */
export { compileKernel, resultTypes, showTypes } from './compile.ts';
export { captureFunction } from './frontend/capture.ts';
export { printKernel } from './ir/print.ts';
