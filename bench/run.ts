/**
 * `npm run bench -- cpu`: runs a benchmark by name.
 */
const [name] = process.argv.slice(2);
switch (name) {
  case undefined:
  case 'cpu':
    await import('./cpu/run.ts');
    break;
  default:
    console.error(`there is no benchmark ${name}; there is: cpu`);
    process.exitCode = 1;
}
