/**
 * The order of the guide on the site: that of Numba's manual, from first kernels to devices and reference. A page of `docs/` that is not
 * named here comes last, under "More".
 */
export interface Chapter {
  readonly title: string;
  /** Pages relative to `docs/`, without `.md`; those of the repository's root begin with `../`. */
  readonly pages: readonly string[];
  readonly collapsed?: boolean;
}

export const GUIDE: readonly Chapter[] = [
  { title: 'Start', pages: ['quickstart', 'cuda-for-typescript', 'migration', 'faq'] },
  {
    title: 'Cookbook',
    pages: [
      'cookbook',
      'cookbook/arrays',
      'cookbook/numbers',
      'cookbook/images',
      'cookbook/simulation',
      'cookbook/media',
    ],
  },
  { title: 'Writing kernels', pages: ['kernels', 'types', 'numbers', 'math', 'strings-and-dates', 'extending'] },
  {
    title: 'Memory',
    pages: [
      'memory',
      'memory/data-transfer',
      'memory/device-arrays',
      'memory/host-arrays',
      'memory/pinned',
      'memory/mapped',
      'memory/managed',
      'memory/shared',
      'memory/local',
      'memory/constant',
      'memory/smart-arrays',
      'memory/deallocation',
      'memory/usage',
    ],
  },
  { title: 'Streams and graphs', pages: ['streams', 'async', 'graphs'] },
  { title: 'Libraries', pages: ['random', 'reduce', 'parallel', 'ufuncs', 'array-arithmetic'] },
  { title: 'Several GPUs, other libraries', pages: ['several-gpus', 'scale', 'interop'] },
  { title: 'Speed and debugging', pages: ['performance', 'profiling', 'debugging', 'simulator', 'benchmarks'] },
  { title: 'Devices', pages: ['nvidia', 'roc', 'opencl', 'webgpu', 'pages', 'cpu', 'bundlers', 'environment'] },
  { title: 'Tools', pages: ['command-line', 'lint'] },
  { title: 'Reference', pages: ['errors', 'glossary', '../FEATURES', 'numba-topics'] },
  {
    title: 'Project',
    pages: ['architecture', 'decisions', '../CONTRIBUTING', 'releasing', '../CHANGELOG', '../SECURITY'],
    collapsed: true,
  },
];
