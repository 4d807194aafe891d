/** The simulator's door: its provider. */
export { type SimulatorDriver, simulatorProvider } from './device.ts';
