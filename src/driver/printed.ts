/**
 * What a kernel's `console.log` hands to the host's: text and values, the same on every device.
 */
import { printArguments } from '../compiler/ir/print-forms.ts';
import type { PrintSite } from '../compiler/render/sites.ts';

/** The arguments of `console.log`: each value has a slot of 8 bytes, in the order of the values. */
export function printed({ parts, forms }: Omit<PrintSite, 'pos'>, view: DataView): readonly unknown[] {
  let slot = 0;
  const values = parts.map((part) => {
    if (typeof part === 'string') return part;
    const at = 8 * slot++;
    switch (part.type) {
      case 'i64':
        return view.getBigInt64(at, true);
      case 'u64':
        return view.getBigUint64(at, true);
      case 'f64':
        return view.getFloat64(at, true);
      case 'bool':
        return view.getFloat64(at, true) !== 0;
      case 'i32':
        return view.getInt32(at, true);
      case 'u32':
        return view.getUint32(at, true);
      case 'f32':
        return view.getFloat32(at, true);
    }
  });
  return printArguments(values, forms);
}
