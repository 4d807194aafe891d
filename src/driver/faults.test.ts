/** A fault that nobody observes is printed when the process ends; one that was observed is not. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundled, runText } from '../../test/support/program.ts';
import { DriverError } from '../errors.ts';
import { FaultLog } from './faults.ts';

const file = bundled('src/driver/faults.ts', 'src/errors.ts');

async function run(code: string): Promise<{ status: number; stderr: string }> {
  const text = `
    import { FaultLog } from ${JSON.stringify(file('faults.ts'))};
    import { DriverError } from ${JSON.stringify(file('errors.ts'))};
    const log = new FaultLog();
    log.post(new DriverError('E_KERNEL_FAULT', 'kernel k: it broke'), log);
    ${code}`;
  try {
    const { stderr } = await promisify(execFile)(process.execPath, runText(text), { timeout: 30_000 });
    return { status: 0, stderr };
  } catch (error) {
    return { status: (error as { code: number }).code, stderr: (error as { stderr: string }).stderr };
  }
}

describe('FaultLog', () => {
  it('prints what nobody observed at exit, with exit code 1', async () => {
    const { status, stderr } = await run('');
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /nothing synchronised with it before the process ended:\nDriverError: kernel k: it broke\n {4}at/,
    );
  });

  it('prints nothing that was thrown and caught', async () => {
    expect(await run('try { log.raise(); } catch {}')).toEqual({ status: 0, stderr: '' });
  });

  it('keeps faults apart by stream, oldest first', () => {
    const log = new FaultLog();
    const [a, b] = [{}, {}];
    const fault = (text: string): DriverError => new DriverError('E_KERNEL_FAULT', text);
    log.post(fault('one'), a);
    const { position } = log.now;
    log.post(fault('two'), b);
    log.post(fault('three'), b);
    expect(() => log.raise(b, position)).not.toThrow();
    expect(() => log.raise(b)).toThrow('two\n(1 later launch on this stream failed as well)');
    log.raise(b);
    expect(() => log.raise()).toThrow('one');
    log.raise();
  });

  it('gives faults to streams that wait for what failed, from then on', () => {
    const log = new FaultLog();
    const [a, b, c] = [{}, {}, {}];
    log.post(new DriverError('E_KERNEL_FAULT', 'broke'), a);
    const onB = log.now;
    log.follow(a, log.now, b);
    log.follow(b, onB, c);
    expect(() => log.raise(c)).not.toThrow();
    log.follow(b, log.now, c);
    expect(() => log.raise(c)).toThrow('broke');
    log.raise();
  });

  it('tells everybody who began to wait before somebody was told, and nobody who began later', () => {
    const log = new FaultLog();
    const [a, b] = [{}, {}];
    const error = new DriverError('E_KERNEL_FAULT', 'broke');
    const before = log.now;
    log.post(error, a);
    const [first, second] = [log.now, log.now];
    expect(log.failure(a, before)).toBeUndefined();
    expect(log.failure(b, first)).toBeUndefined();
    expect(log.failure(a, first)?.error).toBe(error);
    log.failure(a, first)?.acknowledge();
    expect(log.failure(a, second)?.error).toBe(error);
    expect(log.failure(a, log.now)).toBeUndefined();
    expect(() => log.raise()).not.toThrow();
  });

  it('keeps the fault of the earliest work of a stream, whatever is found first', () => {
    const log = new FaultLog();
    const a = {};
    const [one, two] = [log.advance(), log.advance()];
    log.post(new DriverError('E_KERNEL_FAULT', 'second'), a, two);
    log.post(new DriverError('E_KERNEL_FAULT', 'first'), a, one);
    expect(() => log.raise(a, one)).toThrow('first\n(1 later launch on this stream failed as well)');
  });
});
