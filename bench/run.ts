/**
 * `npm run bench -- cpu`, `-- nvidia`, `-- opencl`, `-- memory`, `-- library`, `-- nccl`: runs a benchmark by name.
 */
const [name] = process.argv.slice(2);
switch (name) {
  case undefined:
  case 'cpu':
    await import('./cpu/run.ts');
    break;
  case 'nvidia':
    await import('./nvidia/run.ts');
    break;
  case 'opencl':
    await import('./opencl/run.ts');
    break;
  case 'memory':
    await import('./memory/run.ts');
    break;
  case 'library':
    await import('./library/run.ts');
    break;
  case 'nccl':
    await import('./nccl/run.ts');
    break;
  default:
    console.error(`there is no benchmark ${name}; there are: cpu, nvidia, opencl, memory, library, nccl`);
    process.exitCode = 1;
}
