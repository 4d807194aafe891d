/**
 * What makes HIP C++ understand the renderer's OpenCL C: names of types and functions, as far as they are used.
 */
export const HIP_PRELUDE: string = '// not yet\n';
