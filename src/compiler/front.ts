/**
 * What others call of the compiler proper: reading a function, compiling it, and printing what became of it.
 */
export { captureFunction, compileKernel, freeNames, printKernel, resultTypes, showTypes } from './compiling.ts';
