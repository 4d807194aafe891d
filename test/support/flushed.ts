/**
 * Tests of the suite that ask of a device what SwiftShader does not have: denormal numbers of f32, which it takes for zero, as WGSL lets it; blocks of more than 256 threads; 48 KiB of
 * workgroup memory, of which it has 32 and takes some for itself; a fused `fma`.
 */
export const FLUSHED: readonly string[] = [];
