/**
 * `npm run bench -- cpu`, `npm run bench -- nvidia`: runs a benchmark by name.
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
  default:
    console.error(`there is no benchmark ${name}; there are: cpu, nvidia`);
    process.exitCode = 1;
}
