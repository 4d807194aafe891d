/**
 * `jit` for the library's own kernels: their grids are its own affair, and nobody is warned of small ones.
 */
import type { DeviceSelection } from '../memory/device-selection.ts';
import { type Jit, jitOf } from './jit.ts';
import { Launcher } from './launcher.ts';

class OwnLauncher extends Launcher {
  override noteShape(): void {}
}

export function ownJitOf(devices: DeviceSelection): Jit {
  return jitOf(devices, (state) => new OwnLauncher(state, devices));
}
