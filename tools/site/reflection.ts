/**
 * The part of typedoc's JSON that the reference is made of, and its types as TypeScript writes them.
 */
export interface CommentPart {
  readonly kind: string;
  readonly text: string;
  readonly tag?: string;
}

export interface Comment {
  readonly summary?: readonly CommentPart[];
  readonly blockTags?: readonly {
    readonly tag: string;
    readonly name?: string;
    readonly content: readonly CommentPart[];
  }[];
}

export interface Flags {
  readonly isOptional?: boolean;
  readonly isRest?: boolean;
  readonly isReadonly?: boolean;
  readonly isStatic?: boolean;
  readonly isInherited?: boolean;
}

/** A declaration, a signature or a parameter. */
export interface Reflection {
  readonly id: number;
  readonly name: string;
  readonly kind: number;
  readonly flags?: Flags;
  readonly comment?: Comment;
  readonly children?: readonly Reflection[];
  readonly signatures?: readonly Reflection[];
  readonly getSignature?: Reflection;
  readonly parameters?: readonly Reflection[];
  readonly typeParameters?: readonly Reflection[];
  readonly indexSignatures?: readonly Reflection[];
  readonly type?: Type;
  readonly default?: Type;
  readonly extendedTypes?: readonly Type[];
  readonly sources?: readonly { readonly fileName: string }[];
  readonly inheritedFrom?: unknown;
}

/** A type of typedoc's: `type` says which of the other members it has. */
export interface Type {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly types?: readonly Type[];
  readonly elementType?: Type;
  readonly elements?: readonly Type[];
  readonly element?: Type;
  readonly typeArguments?: readonly Type[];
  readonly declaration?: Reflection;
  readonly operator?: string;
  readonly target?: unknown;
  readonly objectType?: Type;
  readonly indexType?: Type;
  readonly checkType?: Type;
  readonly extendsType?: Type;
  readonly trueType?: Type;
  readonly falseType?: Type;
  readonly parameter?: string;
  readonly parameterType?: Type;
  readonly templateType?: Type;
  readonly queryType?: Type;
  readonly targetType?: Type;
  readonly asserts?: boolean;
  readonly isOptional?: boolean;
  readonly head?: string;
  readonly tail?: readonly (readonly [Type, string])[];
}

/** A type as TypeScript writes it. */
export function typeText(type: Type | undefined): string {
  if (type === undefined) return 'unknown';
  const render = RENDERERS[type.type];
  return render === undefined ? (type.name ?? type.type) : render(type);
}

const list = (types: readonly Type[] | undefined, between = ', '): string => (types ?? []).map(typeText).join(between);

/** In brackets where what follows would bind to a part of it only. */
function bound(type: Type | undefined): string {
  const text = typeText(type);
  const loose =
    type !== undefined &&
    (['union', 'intersection', 'conditional', 'typeOperator'].includes(type.type) || /=> /.test(text));
  return loose && !text.startsWith('{') ? `(${text})` : text;
}

const RENDERERS: Readonly<Record<string, (type: Type) => string>> = {
  intrinsic: ({ name }) => String(name),
  unknown: ({ name }) => String(name),
  reference: ({ name, typeArguments }) => (typeArguments?.length ? `${name}<${list(typeArguments)}>` : String(name)),
  array: ({ elementType }) => `${bound(elementType)}[]`,
  union: ({ types }) => (types ?? []).map((t) => (t.type === 'reflection' ? bound(t) : typeText(t))).join(' | '),
  intersection: ({ types }) => (types ?? []).map(bound).join(' & '),
  literal: ({ value }) =>
    typeof value === 'string' ? `'${value}'` : String((value as { value?: string })?.value ?? value),
  tuple: ({ elements }) => `[${list(elements)}]`,
  namedTupleMember: ({ name, element, isOptional }) => `${name}${isOptional === true ? '?' : ''}: ${typeText(element)}`,
  optional: ({ elementType }) => `${typeText(elementType)}?`,
  rest: ({ elementType }) => `...${typeText(elementType)}`,
  typeOperator: ({ operator, target }) => `${operator} ${bound(target as Type)}`,
  indexedAccess: ({ objectType, indexType }) => `${bound(objectType)}[${typeText(indexType)}]`,
  conditional: (t) =>
    `${typeText(t.checkType)} extends ${typeText(t.extendsType)} ? ${typeText(t.trueType)} : ${typeText(t.falseType)}`,
  inferred: ({ name }) => `infer ${name}`,
  mapped: (t) => `{ [${t.parameter} in ${typeText(t.parameterType)}]: ${typeText(t.templateType)} }`,
  query: ({ queryType }) => `typeof ${typeText(queryType)}`,
  predicate: (t) => `${t.asserts === true ? 'asserts ' : ''}${t.name} is ${typeText(t.targetType)}`,
  templateLiteral: ({ head, tail }) => `\`${head}${(tail ?? []).map(([t, s]) => `\${${typeText(t)}}${s}`).join('')}\``,
  reflection: ({ declaration }) => objectText(declaration),
};

function objectText(declaration: Reflection | undefined): string {
  const { signatures = [], children = [], indexSignatures = [] } = declaration ?? {};
  const [only] = signatures;
  if (only !== undefined && signatures.length === 1 && children.length === 0) return signatureText(only, '', ' => ');
  const calls = signatures.map((signature) => signatureText(signature, ''));
  const members = children.map((child) => memberText(child));
  const indexed = indexSignatures.map(
    ({ parameters, type }) => `[${parameters?.[0]?.name}: ${typeText(parameters?.[0]?.type)}]: ${typeText(type)}`,
  );
  return `{ ${[...calls, ...members, ...indexed].join('; ')} }`;
}

/** `name(a: number, b?: string): void`; with a separator of its own, the type of a function. */
export function signatureText(signature: Reflection, name: string = signature.name, result = ': '): string {
  const parameters = (signature.parameters ?? []).map(({ name, type, flags }) => {
    const rest = flags?.isRest === true ? '...' : '';
    return `${rest}${name}${flags?.isOptional === true ? '?' : ''}: ${typeText(type)}`;
  });
  const generics = (signature.typeParameters ?? []).map((t) =>
    t.type === undefined ? t.name : `${t.name} extends ${typeText(t.type)}`,
  );
  const before = generics.length === 0 ? '' : `<${generics.join(', ')}>`;
  const one = `${name}${before}(${parameters.join(', ')})${result}${typeText(signature.type)}`;
  if (one.length <= 110 || result !== ': ') return one;
  return `${name}${before}(\n  ${parameters.join(',\n  ')},\n)${result}${typeText(signature.type)}`;
}

/** A member of an interface or a class, in a line. */
export function memberText(member: Reflection): string {
  const { name, flags, type, signatures, getSignature } = member;
  const before = `${flags?.isStatic === true ? 'static ' : ''}${flags?.isReadonly === true || getSignature !== undefined ? 'readonly ' : ''}`;
  if (signatures !== undefined) return signatures.map((signature) => signatureText(signature, name)).join('\n');
  const calls = type?.declaration?.signatures;
  if (type?.type === 'reflection' && calls !== undefined && !type.declaration?.children) {
    return calls.map((signature) => `${before.replace('readonly ', '')}${signatureText(signature, name)}`).join('\n');
  }
  return `${before}${name}${flags?.isOptional === true ? '?' : ''}: ${typeText(type ?? getSignature?.type)}`;
}
