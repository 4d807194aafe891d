/**
 * Links between processes, one of which is killed.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { meet } from './hub.ts';

it('a rank that is lost is named to all, whatever others make of it first', { timeout: 30_000 }, async () => {
  const port = await freePort();
  const meeting = { size: 3, host: '127.0.0.1', port, token: 'secret', timeout: 20_000 };
  const hub = pathToFileURL(join(import.meta.dirname, 'hub.ts')).href;
  const program = `const { meet } = await import(${JSON.stringify(hub)});
    await meet({ ...${JSON.stringify(meeting)}, rank: 1 });
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: 'inherit',
  });
  const [first, last] = await Promise.all([meet({ ...meeting, rank: 0 }), meet({ ...meeting, rank: 2 })]);
  // As a communicator does whose work was under way.
  first.onFailure((error) => first.abort(error.message));
  const waits = last.take(1, 'key', 'a call', 20_000).catch((error: unknown) => error);
  child.kill('SIGKILL');
  expect(await waits).toMatchObject({ code: 'E_NCCL_LOST', rank: 1 });
  await Promise.all([first.close(), last.close()]);
});
