import { afterEach, describe, expect, it, vi } from 'vitest';
import * as host from './index.ts';
import { onIdleTurn, onNextTurn } from './turns.ts';

afterEach(() => vi.unstubAllGlobals());

describe('the host', () => {
  it('answers where there is neither a process nor a console', () => {
    vi.stubGlobal('process', undefined);
    vi.stubGlobal('setImmediate', undefined);
    vi.stubGlobal('console', undefined);
    const answers = [
      host.findNodeModule('node:fs'),
      host.environmentVariables(),
      host.platformName(),
      host.processId(),
      host.workingFolder(),
      host.interruptHandlers(),
      onIdleTurn(() => expect.unreachable()),
    ];
    host.warn('a', { type: 'W', code: 'C' });
    host.print('a');
    host.printError('a');
    host.markFailed();
    host.atExit(() => expect.unreachable());
    vi.unstubAllGlobals();
    expect(answers).toEqual([undefined, {}, '', 0, undefined, 0, undefined]);
  });

  it('says which module is missing', () => {
    vi.stubGlobal('process', undefined);
    expect(() => host.nodeModule('node:fs')).toThrow(expect.objectContaining({ code: 'E_RUNTIME' }));
  });

  it('prints on the console where a stand-in for process refuses', () => {
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(text);
    const refuse = (): never => {
      throw new Error('denied');
    };
    vi.stubGlobal('process', new Proxy({}, { get: refuse }));
    vi.stubGlobal('console', { log: line, warn: line, error: line });
    const folder = host.workingFolder();
    host.print('printed');
    host.printError('failed');
    host.warn('slow', { type: 'TsambaWarning', code: 'SLOW' });
    vi.unstubAllGlobals();
    expect(folder).toBeUndefined();
    expect(lines).toEqual(['printed', 'failed', 'TsambaWarning [SLOW]: slow']);
  });

  it.each([true, false])('calls on the next turn, not before (setImmediate: %s)', async (has) => {
    if (!has) vi.stubGlobal('setImmediate', undefined);
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      onNextTurn(() => resolve(void order.push('turn')));
      queueMicrotask(() => order.push('microtask'));
    });
    expect(order).toEqual(['microtask', 'turn']);
  });
});
