/** Enqueues one run over buffers of the device, in the order in which they are named. */
type Program = (...buffers: readonly unknown[]) => () => void;

export declare function typegpu(
  device: unknown,
  n: number,
  size: number,
): {
  /** x, y */
  readonly saxpy: Program;
  /** a, b, c */
  readonly matmul: Program;
};
