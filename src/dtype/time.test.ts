import { describe, expect, it } from 'vitest';
import { codecOf } from './codec.ts';
import { unicodeCharSeq } from './text.ts';
import { datetime64, inUnit, isNaT, NaT, showTime, timedelta64 } from './time.ts';
import { TIME_UNITS } from './time-units.ts';

describe('dates of the host', () => {
  it.each([
    ['ns', '2026-11-23T08:05:01.123456789', 1795421101123456789n],
    ['us', '1969-12-31T23:59:59.999999', -1n],
    ['s', '2026-11-23 08:05:01Z', 1795421101n],
    ['D', '-0001-12-31', -719529n],
    ['W', '1969-12-31', -1n],
    ['M', '1969-11', -2n],
    ['Y', '12026', 10056n],
  ] as const)('in %s: %s', (unit, text, count) => {
    const dtype = datetime64(unit);
    expect(dtype(text)).toBe(count);
    expect(dtype(showTime(dtype as never, count))).toBe(count);
  });

  it.each(['2026-13', '2026-02-29', '2026-1-1', '26', '2026-01-01T24', '2026-01-01T00:00:00+01:00', ''])(
    '%j is none',
    (text) => {
      expect(() => datetime64('ns')(text)).toThrow(TypeError);
    },
  );

  it('agree with Date on every 97th day of eight centuries', () => {
    for (let day = -200_000; day < 100_000; day += 97) {
      const date = new Date(day * 86_400_000);
      const count = datetime64('D')(date);
      expect(count).toBe(BigInt(day));
      expect(showTime(datetime64('D') as never, count)).toBe(date.toISOString().slice(0, 10));
      const months = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
      expect(datetime64('M')(date)).toBe(BigInt(months));
    }
  });

  it('convert between all units, rounded down, and back to the start of what they named', () => {
    const instant = datetime64('ns')('1968-02-29T23:59:59.999999999');
    for (const unit of TIME_UNITS) {
      const [own, ns] = [datetime64(unit) as never, datetime64('ns') as never];
      const count = inUnit(ns, own, instant);
      const start = inUnit(own, ns, count);
      expect(start <= instant).toBe(true);
      expect(inUnit(own, ns, count + 1n) > instant).toBe(true);
      expect(inUnit(own, ns, NaT)).toBe(NaT);
    }
  });

  it('know NaT', () => {
    expect(isNaT(new Date(Number.NaN))).toBe(true);
    expect(isNaT(datetime64('s')('NaT'))).toBe(true);
    expect(isNaT(timedelta64('s')(5n))).toBe(false);
  });

  it('beyond 64 bits are a RangeError', () => {
    expect(() => datetime64('ns')('2300-01-01')).toThrow(RangeError);
    expect(() => timedelta64('s')(2n ** 63n)).toThrow(RangeError);
  });
});

describe('strings of the host', () => {
  it('are read as text, whatever another program left there', () => {
    const view = new DataView(Uint32Array.of(0x1f600, 0, 0x61, 0xffffffff).buffer);
    expect(codecOf(unicodeCharSeq(4)).read(view, 0)).toBe('😀\0a\ufffd');
  });
});
