/**
 * Environment variables as people write them: what switches, what is ignored with a warning.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { debugWord, switchFromEnvironment } from './environment.ts';

const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterEach(() => emit.mockClear());

it.each([
  ['1', true],
  ['true', true],
  [' On ', true],
  ['0', false],
  ['false', false],
  ['no', false],
  ['', undefined],
  [undefined, undefined],
])('%j is %j', (value, expected) => {
  expect(switchFromEnvironment('TSAMBA_X', { TSAMBA_X: value })).toBe(expected);
  expect(emit).not.toHaveBeenCalled();
});

it('warns once of a value that is neither', () => {
  expect(switchFromEnvironment('TSAMBA_X', { TSAMBA_X: 'maybe' })).toBeUndefined();
  expect(switchFromEnvironment('TSAMBA_X', { TSAMBA_X: 'maybe' })).toBeUndefined();
  expect(emit).toHaveBeenCalledTimes(1);
  expect(emit).toHaveBeenCalledWith('TSAMBA_X=maybe is neither 1 nor 0, and is ignored', {
    type: 'TsambaWarning',
    code: 'TSAMBA_BAD_ENV',
  });
});

it('takes the first of several names that is set', () => {
  const names = ['TSAMBA_X', 'NUMBA_X'];
  expect(switchFromEnvironment(names, { NUMBA_X: '0' })).toBe(false);
  expect(switchFromEnvironment(names, { TSAMBA_X: '1', NUMBA_X: '0' })).toBe(true);
  expect(switchFromEnvironment(names, { TSAMBA_X: '', NUMBA_X: '0' })).toBe(false);
});

it('finds words of TSAMBA_DEBUG, and warns of those that mean nothing', () => {
  expect(debugWord('sync', { TSAMBA_DEBUG: 'captures, sync' })).toBe(true);
  expect(debugWord('sync', { TSAMBA_DEBUG: 'captures' })).toBe(false);
  expect(debugWord('sync', {})).toBe(false);
  expect(emit).not.toHaveBeenCalled();
  expect(debugWord('sync', { TSAMBA_DEBUG: 'synch' })).toBe(false);
  expect(emit.mock.calls[0]?.[0]).toBe(
    "TSAMBA_DEBUG=synch: there is no 'synch', only sync, captures, compile, types, ir, passes, wasm, js, ptx, opencl, wgsl, launch, copy, memory",
  );
});
