/**
 * Finds races: a program in which threads race has no meaning.
 */
import { Discarded } from './verdicts.ts';

/** Who touched the elements of an array since the last barrier: -1 nobody, -2 several threads. */
export class Traffic {
  readonly writers: Int32Array;
  readonly readers: Int32Array;
  /** Of a global array: the block that wrote an element at any time, as no barrier orders blocks. */
  private readonly blocks: Int32Array | undefined;
  private readonly block: number;
  constructor(n: number, block: number, blocks?: Int32Array) {
    this.writers = new Int32Array(n).fill(-1);
    this.readers = new Int32Array(n).fill(-1);
    this.blocks = blocks;
    this.block = block;
  }

  read(i: number, t: number): void {
    const [w, by] = [this.writers[i] as number, this.blocks?.[i] ?? -1];
    if ((w !== -1 && w !== t) || (by !== -1 && by !== this.block)) throw new Discarded('race');
    this.readers[i] = this.readers[i] === -1 || this.readers[i] === t ? t : -2;
  }

  /** Atomic updates by several threads are no race among themselves. */
  write(i: number, t: number, atomically: boolean): void {
    if (this.blocks !== undefined && !atomically) {
      const by = this.blocks[i] as number;
      if (by !== -1 && by !== this.block) throw new Discarded('race');
      this.blocks[i] = this.block;
    }
    const [w, r] = [this.writers[i] as number, this.readers[i] as number];
    const who = atomically ? 1_000_000 : t;
    if ((w !== -1 && w !== who) || (r !== -1 && (r !== t || atomically))) throw new Discarded('race');
    this.writers[i] = who;
  }
}
