/**
 * Lane masks: which lanes of a vector are active where control has parted within it.
 *
 * Each construct at which lanes part has a mask of its own; the innermost is in force (`Gen.mask`). A jump under a mask
 * takes its lanes away from the masks of everything that it leaves. Code never runs with no lane active, but for a few
 * harmless assignments: after lanes have gone, the mask is tested before anything else is done.
 */
import type { Expr, Label, ValueType } from '../../ir/ops.ts';
import type { LaneBits } from '../../ir/passes/lane-widths.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { type Gen, isWide, type Mask, maskParts } from './gen.ts';
import { resize } from './narrow.ts';
import { withMask } from './scope.ts';

/** A loop or block that can be jumped out of. */
export interface Frame {
  readonly label: Label;
  readonly exit: BranchTarget;
  readonly next: BranchTarget | undefined;
  /** Whether lanes part here; where they do not, all that came in jump together. */
  readonly parts: boolean;
  /** In force inside at first: its own, or that of the surroundings where no lanes part here. */
  readonly mask: Mask | null;
  /** In force in the body of a loop some of whose lanes may go on early; otherwise `mask`. */
  readonly round: Mask | null;
}

export class MaskStack {
  readonly g: Gen;
  readonly frames: Frame[] = [];
  /** The masks of all enclosing constructs that have one, outermost first. */
  readonly masks: Mask[] = [];

  constructor(g: Gen) {
    this.g = g;
  }

  /** Runs `body` under a new mask, whose lanes `fill` pushes part by part. */
  within(empty: BranchTarget, fill: (p: number) => void, body: (mask: Mask) => void): void {
    const { g } = this;
    const parts: Local[] = [];
    for (let p = 0; p < maskParts(g); p++) {
      const local = g.f.temp('v128');
      fill(p);
      g.f.set(local);
      parts.push(local);
    }
    this.withMask(parts, empty, body);
  }

  /** The same for a mask that is in locals already, which are given back. */
  withMask(parts: readonly Local[], empty: BranchTarget, body: (mask: Mask) => void): void {
    const mask: Mask = { parts, empty, kills: 0, untested: false };
    this.masks.push(mask);
    withMask(this.g, mask, () => body(mask));
    this.masks.pop();
    this.g.f.release('v128', ...parts);
  }

  /** Runs `body` inside a construct that jumps may leave. */
  withFrame(frame: Frame, body: () => void): void {
    this.frames.push(frame);
    body();
    this.frames.pop();
  }

  /** The lanes of a mask, by default the one in force. */
  pushActive(p: number, mask: Mask | null = this.g.mask): void {
    const active = mask?.parts[p];
    if (active === undefined) this.g.f.v128([-1, -1, -1, -1]);
    else this.g.f.get(active);
  }

  frame(label: Label): Frame {
    const frame = this.frames.findLast((fr) => fr.label === label);
    if (frame === undefined) throw new Error(`internal error: no construct with label ${label}`);
    return frame;
  }

  /** All active lanes jump: as a branch where nobody else is in the construct, else by taking them out of the masks. */
  jump(kind: 'break' | 'continue', label: Label): void {
    const { g } = this;
    const frame = this.frame(label);
    const target = kind === 'break' ? frame.mask : frame.round;
    if (!frame.parts || g.mask === target) {
      g.f.br(kind === 'break' || frame.next === undefined ? frame.exit : frame.next);
      return;
    }
    // The innermost mask last: it says which lanes. It may be in force after this list too.
    const lanes = g.mask?.parts ?? [];
    for (const mask of this.#inside(target)) {
      this.#change(mask, (p) => {
        g.f.get(lanes[p] ?? 0);
        g.f.op('v128.andnot');
      });
    }
  }

  /**
   * `if (cond) jump`, where `remove` takes the lanes of the condition away from those on the stack: returns false where it
   * must be done the long way.
   */
  jumpIf(kind: 'break' | 'continue', label: Label, remove: (p: number) => void): boolean {
    const { g } = this;
    const frame = this.frame(label);
    const target = kind === 'break' ? frame.mask : frame.round;
    if (!frame.parts || g.mask === null || g.mask !== target) return false;
    this.#change(g.mask, remove);
    return true;
  }

  /** Masks from that of a construct on. */
  #inside(target: Mask | null): readonly Mask[] {
    const at = target === null ? -1 : this.masks.indexOf(target);
    if (at < 0) throw new Error('internal error: lanes leave a construct that has no mask');
    return this.masks.slice(at);
  }

  /** `take` finds a part of the mask on the stack and leaves what stays of it. */
  #change(mask: Mask, take: (p: number) => void): void {
    const { f } = this.g;
    for (const [p, local] of mask.parts.entries()) {
      f.get(local);
      take(p);
      f.set(local);
    }
    mask.kills++;
    mask.untested = true;
  }

  /** Goes to the end of the construct of the mask in force if no lane is left. */
  test(): void {
    const { g } = this;
    if (g.mask === null || !g.mask.untested) return;
    this.pushAny(g.mask);
    g.f.op('i32.eqz');
    g.f.brIf(g.mask.empty);
    g.mask.untested = false;
  }

  /** Pushes whether any lane of a mask is active. */
  pushAny(mask: Mask): void {
    const { f } = this.g;
    for (const [p, local] of mask.parts.entries()) {
      f.get(local);
      if (p > 0) f.op('v128.or');
    }
    // Not any_true: engines make five instructions of that and a branch, of this three.
    f.op('i32x4.bitmask');
  }
}

/** Stands for a mask where its lanes become narrower. */
const MASK: Expr = { op: 'const', type: 'bool', value: true };

/** Stack: new value of a part, in lanes of `bits`. Keeps the old one in inactive lanes. */
export function blendPart(g: Gen, type: ValueType, old: number, p: number, bits: LaneBits = 32): void {
  const { f, mask } = g;
  f.get(old);
  if (bits !== 32) {
    resize(g, MASK, 32, bits, p, (q) => f.get(mask?.parts[q] ?? 0));
    f.op('v128.bitselect');
    return;
  }
  f.get(mask?.parts[isWide(type) ? p >> 1 : p] ?? 0);
  if (isWide(type)) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
  f.op('v128.bitselect');
}
