/**
 * The types of CEL, as used by the checker. A type parameter of a function is a type variable that is bound while the
 * arguments of a call are matched. `unify` binds variables, and undoes the bindings if the types do not match.
 */
const plainNames = [
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration', 'dyn'] as const),
  ...(['url', 'quantity', 'ip', 'cidr', 'semver', 'format'] as const),
  ...(['authorizer', 'path_check', 'group_check', 'resource_check', 'decision'] as const),
  'any',
] as const
type PlainName = (typeof plainNames)[number] | 'null_type'

/** A CEL type, as the type checker represents it. */
export type CelType =
  | { readonly kind: PlainName }
  | { readonly kind: 'list'; readonly elem: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | {
      readonly kind: 'object'
      readonly fields: ReadonlyMap<string, Field>
      /** The name of the type. Undefined unless expressions can create objects of the type. */
      readonly name?: string
    }
  | { readonly kind: 'type' | 'optional'; readonly of: CelType }
  | { readonly kind: 'variable'; bound: CelType | undefined }

/** A field of an object type. declared-type.ts contains more information about fields. */
interface Field {
  readonly type: CelType
}

function plain(kind: PlainName): CelType {
  return { kind }
}

/** Types without parameters. */
export const types = {
  bool: plain('bool'),
  int: plain('int'),
  uint: plain('uint'),
  double: plain('double'),
  string: plain('string'),
  bytes: plain('bytes'),
  timestamp: plain('timestamp'),
  duration: plain('duration'),
  dyn: plain('dyn'),
  url: plain('url'),
  quantity: plain('quantity'),
  authorizer: plain('authorizer'),
  /** Any scalar value. Unlike `dyn`, it has no fields and cannot be iterated over. */
  any: plain('any'),
  null: plain('null_type'),
}

/** Returns the type of lists with the given element type. */
export function listOf(elem: CelType): CelType {
  return { kind: 'list', elem }
}

/** Returns the type of maps with the given key and value types. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value }
}

/** Returns the type of optionals with this value type. */
export function optionalOf(of: CelType): CelType {
  return { kind: 'optional', of }
}

export function typeVariable(): CelType {
  return { kind: 'variable', bound: undefined }
}

/** Returns the type to which a type variable is bound. Returns other types unchanged. */
export function resolve(type: CelType): CelType {
  let actual = type
  while (actual.kind === 'variable' && actual.bound !== undefined) actual = actual.bound
  return actual
}

/** Whether the types of the values are known only at run time. */
export function isDynamic(type: CelType): boolean {
  const { kind } = resolve(type)
  return kind === 'dyn' || kind === 'variable'
}

/** Whether a type is compatible with every other type. */
function isWildcard({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'any'
}

type Variable = Extract<CelType, { readonly kind: 'variable' }>

/** The type variables bound by a comparison, recorded so that the bindings can be undone. */
type Trail = Variable[]

function undo(trail: Trail): void {
  for (const variable of trail) variable.bound = undefined
}

/** Unifies each pair of types. If one pair does not match, returns false and undoes all bindings of type variables. */
export function unifyAll(expected: readonly CelType[], actual: readonly CelType[]): boolean {
  const trail: Trail = []
  if (expected.length === actual.length && expected.every((type, i) => unify(type, actual[i]!, trail))) return true
  undo(trail)
  return false
}

export function unify(expected: CelType, actual: CelType, trail: Trail = []): boolean {
  const a = resolve(expected)
  const b = resolve(actual)
  if (a === b) return true
  if (a.kind === 'variable') return bind(a, b, trail)
  if (b.kind === 'variable') return bind(b, a, trail)
  if (isWildcard(a) || isWildcard(b)) return true
  if (a.kind === 'null_type' || b.kind === 'null_type') return mayBeNull(a.kind === 'null_type' ? b : a)
  if (a.kind === 'list' && b.kind === 'list') return unify(a.elem, b.elem, trail)
  if (a.kind === 'map' && b.kind === 'map') return unify(a.key, b.key, trail) && unify(a.value, b.value, trail)
  if (a.kind === 'optional' && b.kind === 'optional') return unify(a.of, b.of, trail)
  if (a.kind === 'object' && b.kind === 'object')
    return a.name === b.name && (a.name !== undefined || a.fields === b.fields)
  return a.kind === b.kind
}

/** Display names of the types that Kubernetes adds to CEL. */
export const opaqueNames: ReadonlyMap<string, string> = new Map([
  ['url', 'kubernetes.URL'],
  ['quantity', 'kubernetes.Quantity'],
  ['ip', 'net.IP'],
  ['cidr', 'net.CIDR'],
  ['semver', 'kubernetes.Semver'],
  ['format', 'kubernetes.NamedFormat'],
  ['authorizer', 'kubernetes.authorization.Authorizer'],
  ['path_check', 'kubernetes.authorization.PathCheck'],
  ['group_check', 'kubernetes.authorization.GroupCheck'],
  ['resource_check', 'kubernetes.authorization.ResourceCheck'],
  ['decision', 'kubernetes.authorization.Decision'],
])

/** Whether values of this type can be compared with null. */
function mayBeNull({ kind }: CelType): boolean {
  return ['null_type', 'object', 'timestamp', 'duration', 'optional'].includes(kind) || opaqueNames.has(kind)
}

function bind(variable: Variable, type: CelType, trail: Trail): boolean {
  if (occursIn(variable, type)) return false
  variable.bound = type
  trail.push(variable)
  return true
}

function occursIn(variable: Variable, type: CelType): boolean {
  const actual = resolve(type)
  if (actual === variable) return true
  if (actual.kind === 'list') return occursIn(variable, actual.elem)
  if (actual.kind === 'optional') return occursIn(variable, actual.of)
  return actual.kind === 'map' && (occursIn(variable, actual.key) || occursIn(variable, actual.value))
}

/** Formats a type for messages. */
export function formatType(type: CelType): string {
  const actual = resolve(type)
  switch (actual.kind) {
    case 'list':
      return `list(${formatType(actual.elem)})`
    case 'map':
      return `map(${formatType(actual.key)}, ${formatType(actual.value)})`
    case 'type':
      return `type(${formatType(actual.of)})`
    case 'optional':
      return `optional_type(${formatType(actual.of)})`
    case 'null_type':
      return 'null'
    case 'object':
      return actual.name ?? actual.kind
    case 'variable':
      return 'dyn'
    default:
      return opaqueNames.get(actual.kind) ?? actual.kind
  }
}

/** Parses a type in a declaration, such as `list(A)` or `map(string, dyn)`. Capital letters are type parameters. */
export function readType(text: string, parameters: Map<string, CelType>): CelType {
  const nested = /^(list|map|type|optional)\((.*)\)$/.exec(text)
  if (nested === null) return readName(text, parameters)
  const parts = splitTypes(nested[2]!).map((part) => readType(part, parameters))
  if (nested[1] === 'list') return listOf(parts[0]!)
  return nested[1] === 'map' ? mapOf(parts[0]!, parts[1]!) : { kind: nested[1] as 'type' | 'optional', of: parts[0]! }
}

function readName(name: string, parameters: Map<string, CelType>): CelType {
  if (name === 'null') return types.null
  if (plainNames.includes(name as never)) return types[name as 'int'] ?? plain(name as PlainName)
  const known = parameters.get(name) ?? typeVariable()
  parameters.set(name, known)
  return known
}

/** Returns a copy of a type for one call, with new type variables in place of the declared type parameters. */
export function instantiate(type: CelType, fresh: Map<CelType, CelType>): CelType {
  switch (type.kind) {
    case 'variable': {
      const known = fresh.get(type) ?? typeVariable()
      fresh.set(type, known)
      return known
    }
    case 'list':
      return listOf(instantiate(type.elem, fresh))
    case 'map':
      return mapOf(instantiate(type.key, fresh), instantiate(type.value, fresh))
    case 'type':
    case 'optional':
      return { kind: type.kind, of: instantiate(type.of, fresh) }
    default:
      return type
  }
}

/** Splits a list of types such as `map(A, B), int` at the commas outside of parentheses. */
export function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) {
      parts.push(part.trim())
      part = ''
    } else part += letter
  }
  return part.trim() === '' ? parts : [...parts, part.trim()]
}
