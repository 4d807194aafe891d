/**
 * Makes ordinary properties of the private ones (`#name`) of modules, so that functions outside a class can stand for parts of its methods. Minifiers keep the names of both.
 */
import MagicString from 'magic-string';

/** The texts of modules, by file, with `_name` for `#name`; classes that extend others, or are extended, get names of their own. */
export function withoutPrivates(modules) {
  const classes = modules.flatMap(({ body }) => classesIn(body));
  const bases = new Set(classes.map(({ superClass }) => superClass?.name));
  const taken = new Map();
  const nameFor = (node, name) => {
    if (node.superClass === null && !bases.has(node.id?.name)) return `_${name}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return `_${name}$${count}`;
  };
  return modules.map(({ text, body }) => {
    const code = new MagicString(text);
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
          if (!own.has(key.name)) own.set(key.name, nameFor(parent, key.name));
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
