/**
 * An allocator over one address range: two-level size classes with bitmaps, immediate coalescing, reuse before growth.
 *
 * Pure bookkeeping: it knows addresses and sizes, not the memory behind them. Freed blocks stay below the high-water mark
 * (`top`) and are handed out again before the mark rises, because touching fresh pages costs several times more than the
 * copy into them. Growing the memory up to `top` is the caller's part.
 */

/** All addresses and sizes are multiples of this. */
export const ALIGNMENT = 64;
/** Sixteen size classes for each power of two. */
const STEPS = 16;
const CLASSES = 28 * STEPS;
/** How many blocks of the request's own class are looked at before a larger class is taken. */
const LOOK = 8;

interface Block {
  start: number;
  size: number;
  free: boolean;
  /** Neighbours in the address range. */
  before: Block | undefined;
  after: Block | undefined;
  /** Neighbours in the free list of its class. */
  left: Block | undefined;
  right: Block | undefined;
}

/** Hands out addresses between a start and a limit, which may be raised. */
export class Allocator {
  /** End of the address range. */
  limit: number;
  /** High-water mark: everything below it has been handed out at some time. */
  top: number;
  /** Bytes handed out, slack and rounding included. */
  live = 0;
  readonly #start: number;
  readonly #heads: (Block | undefined)[] = new Array<Block | undefined>(CLASSES).fill(undefined);
  /** One bit a class: whether its list holds anything. */
  readonly #bits = new Int32Array(CLASSES / 32);
  readonly #blocks = new Map<number, Block>();
  #last: Block | undefined;

  constructor(start: number, limit: number) {
    this.#start = start;
    this.limit = limit;
    this.top = start;
  }

  /** Bytes that have been handed out before and are free now. */
  get pooled(): number {
    return this.top - this.#start - this.live;
  }

  /** Bytes of the largest allocation that would succeed now. */
  get largest(): number {
    let largest = this.limit - (this.#last?.free ? this.#last.start : this.top);
    for (let index = CLASSES - 1; index >= 0; index--) {
      let found = false;
      for (let block = this.#heads[index]; block !== undefined; block = block.right) {
        largest = Math.max(largest, block.size);
        found = true;
      }
      if (found) break;
    }
    return largest;
  }

  /** Address of a block of at least `bytes` bytes, or undefined when there is no room. */
  allocate(bytes: number): number | undefined {
    const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    // There is no size class for what cannot be had at all.
    if (size > this.limit - this.#start) return undefined;
    const block = this.#reuse(size) ?? this.#extend(size) ?? this.#search(size);
    if (block === undefined) return undefined;
    this.live += block.size;
    this.#blocks.set(block.start, block);
    return block.start;
  }

  /** Bytes of the live block at `address`, rounding included; undefined when no block starts there. */
  sizeOf(address: number): number | undefined {
    return this.#blocks.get(address)?.size;
  }

  /** Gives a block back; false when `address` is not the start of a live block. */
  free(address: number): boolean {
    const block = this.#blocks.get(address);
    if (block === undefined) return false;
    this.#blocks.delete(address);
    this.live -= block.size;
    const { before, after } = block;
    if (after?.free) {
      this.#unlink(after);
      this.#absorb(block, after);
    }
    if (before?.free) {
      this.#unlink(before);
      this.#absorb(before, block);
      this.#link(before);
    } else {
      this.#link(block);
    }
    return true;
  }

  /** A free block that is certainly large enough, or one of the request's own class that happens to be. */
  #reuse(size: number): Block | undefined {
    const own = classOf(size);
    let look = LOOK;
    for (let block = this.#heads[own]; block !== undefined && look > 0; block = block.right, look--) {
      if (block.size >= size) return this.#take(block, size);
    }
    const index = this.#nextClass(own + 1);
    const block = index < 0 ? undefined : this.#heads[index];
    return block === undefined ? undefined : this.#take(block, size);
  }

  /** Raises the high-water mark, using up a free block that ends there. */
  #extend(size: number): Block | undefined {
    const last = this.#last;
    const start = last?.free ? last.start : this.top;
    if (start + size > this.limit) return undefined;
    this.top = start + size;
    if (last?.free) {
      this.#unlink(last);
      last.size = size;
      last.free = false;
      return last;
    }
    const block: Block = {
      start,
      size,
      free: false,
      before: last,
      after: undefined,
      left: undefined,
      right: undefined,
    };
    if (last !== undefined) last.after = block;
    this.#last = block;
    return block;
  }

  /** Last resort: the whole list of the request's own class, which `reuse` only began to read. */
  #search(size: number): Block | undefined {
    for (let block = this.#heads[classOf(size)]; block !== undefined; block = block.right) {
      if (block.size >= size) return this.#take(block, size);
    }
    return undefined;
  }

  #take(block: Block, size: number): Block {
    this.#unlink(block);
    block.free = false;
    const rest = block.size - size;
    if (rest > 0) {
      const tail: Block = {
        start: block.start + size,
        size: rest,
        free: false,
        before: block,
        after: block.after,
        left: undefined,
        right: undefined,
      };
      if (block.after === undefined) this.#last = tail;
      else block.after.before = tail;
      block.after = tail;
      block.size = size;
      this.#link(tail);
    }
    return block;
  }

  /** Joins `second`, which follows `first`, to it. */
  #absorb(first: Block, second: Block): void {
    first.size += second.size;
    first.after = second.after;
    if (second.after === undefined) this.#last = first;
    else second.after.before = first;
  }

  #link(block: Block): void {
    const index = classOf(block.size);
    const head = this.#heads[index];
    block.free = true;
    block.left = undefined;
    block.right = head;
    if (head !== undefined) head.left = block;
    this.#heads[index] = block;
    this.#bits[index >> 5] = (this.#bits[index >> 5] ?? 0) | (1 << (index & 31));
  }

  #unlink(block: Block): void {
    const index = classOf(block.size);
    if (block.left !== undefined) block.left.right = block.right;
    else this.#heads[index] = block.right;
    if (block.right !== undefined) block.right.left = block.left;
    block.left = undefined;
    block.right = undefined;
    if (this.#heads[index] === undefined) {
      this.#bits[index >> 5] = (this.#bits[index >> 5] ?? 0) & ~(1 << (index & 31));
    }
  }

  /** The first class from `index` on that holds a block; -1 when there is none. */
  #nextClass(index: number): number {
    if (index >= CLASSES) return -1;
    let word = index >> 5;
    let bits = (this.#bits[word] ?? 0) & (-1 << (index & 31));
    while (bits === 0) {
      word++;
      if (word >= this.#bits.length) return -1;
      bits = this.#bits[word] ?? 0;
    }
    return word * 32 + 31 - Math.clz32(bits & -bits);
  }
}

/** Number of the size class: exact up to 16 units, then sixteen steps an octave. */
function classOf(size: number): number {
  const units = size / ALIGNMENT;
  if (units < STEPS) return units;
  const shift = 31 - Math.clz32(units) - 4;
  return (shift + 1) * STEPS + (units >>> shift) - STEPS;
}
