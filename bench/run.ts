/**
 * `npm run bench -- cpu`, `-- nvidia`, `-- opencl`, `-- webgpu`, `-- pages`, `-- memory`, `-- library`, `-- nccl`: runs a benchmark by name.
 */
const BENCHMARKS = ['cpu', 'nvidia', 'opencl', 'webgpu', 'pages', 'memory', 'library', 'nccl'];
const [name = 'cpu'] = process.argv.slice(2);
if (BENCHMARKS.includes(name)) await import(`./${name}/run.ts`);
else {
  const asked = name === '--help' || name === '-h';
  if (!asked) console.error(`there is no benchmark ${name}`);
  console.log(`npm run bench -- ${BENCHMARKS.join('|')} [options]; --help behind a name lists its options`);
  process.exitCode = asked ? 0 : 2;
}
