import { afterEach, describe, expect, it, vi } from 'vitest';
import * as browser from './browser.ts';
import type { Host } from './host.ts';
import * as node from './node.ts';

/** What a test sees is that these are assignable: each half has all that the other has. */
const halves: readonly (readonly [string, Host])[] = [
  ['Node.js', node],
  ['pages', browser],
];

afterEach(() => vi.unstubAllGlobals());

it('both halves have the same', () => {
  expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
});

describe.each(halves)('the half for %s', (_, host) => {
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
      host.onIdleTurn(() => expect.unreachable()),
    ];
    host.warn('a', { type: 'W', code: 'C' });
    host.print('a');
    host.printError('a');
    host.markFailed();
    host.atExit(() => expect.unreachable());
    vi.unstubAllGlobals();
    expect(answers).toEqual([undefined, {}, '', 0, undefined, 0, undefined]);
  });

  it('calls on the next turn, not before', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      host.onNextTurn(() => resolve(void order.push('turn')));
      queueMicrotask(() => order.push('microtask'));
    });
    expect(order).toEqual(['microtask', 'turn']);
  });
});

describe('the half for pages', () => {
  it('asks no stand-in for process anything', () => {
    const refuse = new Proxy({}, { get: () => expect.unreachable() });
    vi.stubGlobal('process', refuse);
    vi.stubGlobal('setImmediate', refuse);
    const answers = [
      browser.findNodeModule(),
      browser.environmentVariables(),
      browser.platformName(),
      browser.workingFolder(),
      browser.onIdleTurn(),
    ];
    vi.unstubAllGlobals();
    expect(answers).toEqual([undefined, {}, '', undefined, undefined]);
  });

  it('prints on the console', () => {
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(text);
    vi.stubGlobal('console', { log: line, warn: line, error: line });
    browser.print('printed');
    browser.printError('failed');
    browser.warn('slow', { type: 'TsambaWarning', code: 'SLOW' });
    vi.unstubAllGlobals();
    expect(lines).toEqual(['printed', 'failed', 'TsambaWarning [SLOW]: slow']);
  });
});
