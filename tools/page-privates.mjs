/**
 * Makes ordinary properties of the private ones (`#name`) of modules, so that functions outside a class can stand for parts of its methods. Minifiers keep the names of
 * ordinary ones, so they are short.
 */
import MagicString from 'magic-string';

/** The texts of modules, by file, with `_0` for the first `#name` of a class, and so on; classes that extend others, or are extended, and those that objects are asked for, share none. */
export function withoutPrivates(modules) {
  const classes = modules.flatMap(({ body }) => classesIn(body));
  const bases = new Set(classes.map(({ superClass }) => superClass?.name));
  let shared = 0;
  return modules.map(({ text, body }) => {
    const code = new MagicString(text);
    // Objects are asked for these to know their class.
    const asked = new Set(Array.from(text.matchAll(/#(\w+) in\b/g), ([, name]) => name));
    const nameFor = (node, name, own) =>
      node.superClass === null && !bases.has(node.id?.name) && !asked.has(name)
        ? `_${own.size.toString(36)}`
        : `_$${(shared++).toString(36)}`;
    const visit = (node, names, parent) => {
      if (Array.isArray(node)) {
        for (const each of node) visit(each, names, parent);
        return;
      }
      if (typeof node?.type !== 'string') return;
      let inner = names;
      if (node.type === 'ClassBody') {
        inner = new Map(names);
        const own = new Map();
        for (const { key } of node.body) {
          if (key?.type !== 'PrivateIdentifier') continue;
          if (!own.has(key.name)) own.set(key.name, nameFor(parent, key.name, own));
          inner.set(key.name, own.get(key.name));
        }
      }
      if (node.type === 'PrivateIdentifier') {
        const name = inner.get(node.name);
        code.overwrite(node.start, node.end, parent.type === 'BinaryExpression' ? `"${name}"` : name);
      }
      for (const child of Object.values(node)) if (typeof child === 'object') visit(child, inner, node);
    };
    visit(body, new Map(), undefined);
    return code.toString();
  });
}

function classesIn(node, found = []) {
  if (Array.isArray(node)) for (const each of node) classesIn(each, found);
  if (typeof node?.type !== 'string') return found;
  if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') found.push(node);
  for (const child of Object.values(node)) if (typeof child === 'object') classesIn(child, found);
  return found;
}
