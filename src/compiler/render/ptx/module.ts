/**
 * The agreement between the PTX renderer and whoever loads its modules (the NVIDIA driver).
 *
 * A module has one entry. Its parameters are `Kernel.params` in order, each at its natural alignment (pointers are 8 bytes,
 * bool is one byte), followed by those that the module asks for beyond them (`launchNumber`). The launcher packs them into
 * one buffer of `paramBytes`.
 *
 * Reports. The table of faults is the global variable `faultSymbol`, the print buffer `printSymbol` (reports.ts).
 */
import type { LinkItem } from '../../intrinsics/external.ts';
import type { ValueType } from '../../ir/ops.ts';
import type { Pos } from '../../source.ts';
import type { FaultSite, PrintSite } from '../sites.ts';
import type { LinePlace } from './lines.ts';

/** What one module is rendered for. */
export interface PtxTarget {
  /** Ten times the compute capability: 90 for sm_90. */
  readonly capability: number;
  /** The newest PTX ISA version that the driver reads, as [major, minor]. */
  readonly isa: readonly [number, number];
}

/** What the user or the launch asks of the code. */
export interface PtxOptions {
  /** The entry's name in profilers; anything that PTX does not allow in a name is replaced. */
  readonly name: string;
  readonly launchBounds?: number | undefined;
  /** Such blocks on a multiprocessor at least: `.minnctapersm`. */
  readonly minBlocks?: number | undefined;
  /** Blocks of a cluster, from sm_90 on: `.reqnctapercluster`. */
  readonly cluster?: readonly [x: number, y: number, z: number] | undefined;
  readonly maxRegisters?: number | undefined;
  /** Whether an array that is only read may share memory with one that is written: then nothing is read through the read-only path. */
  readonly aliased: boolean;
  /** Where in the author's file a position stands; lines are in the code when this is there. */
  readonly lines?: ((pos: Pos) => LinePlace) | undefined;
}

/** Where a parameter stands in the packed buffer; offset and size in bytes. */
export interface PtxParam {
  readonly type: ValueType | 'ptr';
  readonly offset: number;
  readonly size: number;
}

export interface PtxModule {
  readonly text: string;
  /** Whether the text names lines of the author's file; absent: no. */
  readonly lineInfo?: boolean | undefined;
  readonly entry: string;
  /** One for each of `Kernel.params`, in order. */
  readonly params: readonly PtxParam[];
  /** Offset of the u32 launch number that fault records repeat; undefined without fault sites. */
  readonly launchNumber: number | undefined;
  readonly paramBytes: number;
  /** Bytes that a launch adds to the dynamic shared memory, in front of the user's: static arrays beyond what PTX allows to be static. */
  readonly extraSharedBytes: number;
  readonly sites: readonly FaultSite[];
  readonly faultSymbol: string | undefined;
  readonly prints: readonly PrintSite[];
  readonly printSymbol: string | undefined;
  /** Whether blocks wait for each other: the launch must be cooperative. */
  readonly cooperative: boolean;
  /** What the text calls functions of; absent: nothing. */
  readonly link?: readonly LinkItem[] | undefined;
  /** Whether `aliased: true` and `aliased: false` give different code. */
  readonly usesReadOnlyPath: boolean;
}
