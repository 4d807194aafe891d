/**
 * Walking acorn trees without knowing every node type: the children of a node in source order of its fields, and a
 * depth-first visit. What the nodes mean is left to those who walk.
 */
import type { Node } from 'acorn';

/** Whether a field of a node is itself a node. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** The nodes directly below `node`. Holes of array patterns are left out. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  forEachChild(node, (child) => {
    found.push(child);
  });
  return found;
}

/** Calls `visit` for each node directly below `node`. Reads fields by `in`, as this runs for every node of every kernel. */
export function forEachChild(node: Node, visit: (child: Node) => void): void {
  const fields = node as unknown as Record<string, unknown>;
  for (const key in fields) {
    const value = fields[key];
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (let k = 0; k < value.length; k++) {
        const item: unknown = value[k];
        if (isNode(item)) visit(item);
      }
    } else if (isNode(value)) visit(value);
  }
}

/** Visits `node` and all below it, parents first. A visitor that returns false keeps the walk out of that node. */
export function walk(node: Node, visit: (node: Node) => boolean | undefined): void {
  if (visit(node) === false) return;
  forEachChild(node, (child) => {
    walk(child, visit);
  });
}

/** Replaces nodes below `root` in place, innermost first, by what `change` returns for them; undefined keeps a node. */
export function rewrite(root: Node, change: (node: Node) => Node | undefined): void {
  const changed = (node: Node): Node => {
    rewrite(node, change);
    return change(node) ?? node;
  };
  for (const [key, value] of Object.entries(root) as [string, unknown][]) {
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) if (isNode(item)) value[i] = changed(item);
    } else if (isNode(value)) {
      (root as unknown as Record<string, unknown>)[key] = changed(value);
    }
  }
}
