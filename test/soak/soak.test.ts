/**
 * A short soak: `npm run soak` is the long one.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../../src/index.ts';
import { World } from './world.ts';

describe.each(['cpu', 'simulator'] as const)('random use of the %s device', (device) => {
  it('agrees with the model and leaves nothing behind', async () => {
    cuda.selectDevice(device);
    const { live } = cuda.memoryStats();
    const world = new World(7);
    // Forgotten arrays and dropped ones are the collector's, which is not waited for here.
    for (let k = 0; k < 400; k++) await world.step(['forget', 'drop']);
    world.finish();
    expect(world.checks).toBeGreaterThan(50);
    expect(cuda.memoryStats().live).toBe(live);
  });
});
