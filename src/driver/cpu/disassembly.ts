/**
 * WebAssembly as text, in a module of its own, which pages load when it is called.
 */
export { disassemble } from './disassemble.ts';
