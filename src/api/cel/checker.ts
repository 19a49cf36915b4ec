/**
 * Type-checks an expression before it is evaluated: each name must be declared, each field must exist, and each call
 * must match an overload. Errors use the wording of cel-go.
 */
import type { Call, Fold, Identifier, ListLiteral, MapLiteral, Node, Select, StructLiteral } from './ast.ts'
import { operands } from './ast.ts'
import { fieldNamed, plainReservedSince } from './declared-type.ts'
import { functions } from './functions/all.ts'
import type { Issue } from './issues.ts'
import type { Functions, Overload } from './overload.ts'
import {
  type CelType,
  formatType,
  isDynamic,
  listOf,
  mapOf,
  optionalOf,
  resolve,
  types,
  typeVariable,
  unify,
  unifyAll,
} from './types.ts'
import { kindOf } from './values.ts'

/** Type names that expressions can use as values, such as `int`. */
export const typeNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes'] as const).map((name) => [name, types[name]] as const),
  ['null_type', types.null],
  ['list', listOf(types.dyn)],
  ['map', mapOf(types.dyn, types.dyn)],
  ['type', { kind: 'type', of: types.dyn }],
  ['optional_type', optionalOf(types.dyn)],
  ['google.protobuf.Timestamp', types.timestamp],
  ['google.protobuf.Duration', types.duration],
])

/** Kubernetes minor version that introduced optional values. */
const optionalsSince = 28

/** Returns the qualified name formed by a chain of field selections, for example `google.protobuf.Timestamp`. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.isTest) return undefined
  const operand = qualifiedName(node.operand)
  return operand === undefined ? undefined : `${operand}.${node.field}`
}

export interface Checked {
  readonly type: CelType
  readonly issues: readonly Issue[]
  /** Names of the declared variables that the expression uses. */
  readonly used: ReadonlySet<string>
}

/** Returns the type with the given name, or undefined if expressions cannot create objects of the type. */
export type FindStruct = (name: string) => Extract<CelType, { readonly kind: 'object' }> | undefined

export interface CheckOptions {
  /**
   * Kubernetes minor version that determines which functions are available. If undefined, all functions are available.
   */
  readonly version?: number | undefined
  readonly findStruct?: FindStruct | undefined
  /** Functions that are available in addition to the functions of CEL and Kubernetes. */
  readonly ownFunctions?: Functions | undefined
}

/** Type-checks an expression. Sets the type of every node and the available overloads of every call. */
export function check(root: Node, variables: ReadonlyMap<string, CelType>, options: CheckOptions = {}): Checked {
  const checker = new Checker(variables, options)
  const type = checker.check(root)
  return { type: resolve(type), issues: checker.issues, used: checker.used }
}

/** Whether a call formats a string with a list of values, as in `'%s %d'.format(['a', 1])`. */
function isFormat({ name, target, args }: Call): boolean {
  return name === 'format' && target !== undefined && args.length === 1
}

/** Maximum number of reported errors. Most expressions have fewer errors. */
const maxIssues = 100

class Checker {
  readonly issues: Issue[] = []
  readonly used = new Set<string>()
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #version: number
  readonly #findStruct: FindStruct | undefined
  readonly #ownFunctions: Functions | undefined
  /** Variables of the enclosing macros, from the outermost to the innermost macro. */
  readonly #scopes: { readonly name: string; readonly type: CelType }[] = []

  constructor(variables: ReadonlyMap<string, CelType>, { version, findStruct, ownFunctions }: CheckOptions) {
    this.#variables = variables
    this.#version = version ?? Number.POSITIVE_INFINITY
    this.#findStruct = findStruct
    this.#ownFunctions = ownFunctions
  }

  check(node: Node): CelType {
    const type = this.#typeOf(node)
    node.type = type
    return type
  }

  #typeOf(node: Node): CelType {
    switch (node.kind) {
      case 'literal':
        return literalType(kindOf(node.value))
      case 'identifier':
        return this.#identifier(node)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'struct':
        return this.#struct(node)
      case 'fold':
        return this.#fold(node)
    }
  }

  /** Records an error and returns a type that is compatible with every other type, to avoid follow-up errors. */
  #report(at: number, text: string): CelType {
    if (this.issues.length < maxIssues) this.issues.push({ at, text })
    return types.dyn
  }

  #undeclared(at: number, name: string): CelType {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`)
  }

  #identifier({ at, name }: Identifier): CelType {
    const local = this.#scopes.findLast((scope) => scope.name === name)
    if (local !== undefined) return local.type
    const variable = this.#variables.get(name)
    if (variable !== undefined) {
      this.used.add(name)
      return variable
    }
    const type = name === 'optional_type' && this.#version < optionalsSince ? undefined : typeNames.get(name)
    return type === undefined ? this.#undeclared(at, name) : { kind: 'type', of: type }
  }

  #select(node: Select): CelType {
    const { operand, isTest } = node
    const named = typeNames.get(qualifiedName(node) ?? '')
    if (named !== undefined) return { kind: 'type', of: named }
    const variable = this.#qualifiedVariable(node)
    if (variable !== undefined) return variable
    const operandType = resolve(this.check(operand))
    if (operandType.kind === 'optional') {
      const type = this.#fieldType(node, resolve(operandType.of))
      return isTest ? types.bool : optionalOf(type)
    }
    const type = this.#fieldType(node, operandType)
    return isTest ? types.bool : type
  }

  /** Returns the type of a variable whose name contains a dot, such as `authorizer.requestResource`. */
  #qualifiedVariable(node: Select): CelType | undefined {
    const name = qualifiedName(node)
    const type = name === undefined ? undefined : this.#variables.get(name)
    if (name === undefined || type === undefined) return undefined
    if (this.#scopes.some((scope) => name.startsWith(`${scope.name}.`))) return undefined
    this.used.add(name)
    return type
  }

  #fieldType({ at, field }: { readonly at: number; readonly field: string }, operandType: CelType): CelType {
    switch (operandType.kind) {
      case 'map':
        return operandType.value
      case 'object': {
        const isPlain = this.#version >= plainReservedSince
        const declared = isPlain ? fieldNamed(operandType.fields, field) : operandType.fields.get(field)
        if (declared === undefined) return this.#report(at, `undefined field '${field}'`)
        return declared.type
      }
      case 'dyn':
      case 'variable':
        return types.dyn
      default:
        return this.#report(at, `type '${formatType(operandType)}' does not support field selection`)
    }
  }

  #call(node: Call): CelType {
    const args = operands(node).map((operand) => (isFormat(node) ? this.#mixed(operand) : this.check(operand)))
    const isMember = node.target !== undefined
    if (node.name === '_?._') return this.#optionalField(node, resolve(args[0]!))
    const overloads = (this.#ownFunctions?.get(node.name) ?? functions.get(node.name))?.filter(
      ({ since = 0, forMutations }) => since <= this.#version && (!forMutations || this.#findStruct),
    )
    if (overloads === undefined || overloads.length === 0) return this.#undeclared(node.at, node.name)
    const matching = matchingOverloads(overloads, { args, isMember })
    if (matching.length === 0) return this.#report(node.at, noOverload(node, args))
    node.overloads = matching.map(({ overload }) => overload)
    const [first, ...others] = matching.map(({ result }) => resolve(result))
    return others.every((other) => other === first) ? first! : types.dyn
  }

  /** Type-checks a list of arguments. The elements of the list may have different types. */
  #mixed(node: Node): CelType {
    if (node.kind !== 'list') return this.check(node)
    for (const element of node.elements) this.check(element)
    node.type = listOf(types.dyn)
    return node.type
  }

  /** Returns the type of `a.?b`, which is an optional. The optional has a value if the field is present. */
  #optionalField(node: Call, operand: CelType): CelType {
    const [, field] = node.args
    const name = field!.kind === 'literal' ? String(field!.value) : ''
    const object = operand.kind === 'optional' ? resolve(operand.of) : operand
    const type = resolve(this.#fieldType({ at: node.at, field: name }, object))
    return type.kind === 'optional' ? type : optionalOf(type)
  }

  #list({ elements, optionals }: ListLiteral): CelType {
    return listOf(this.#common(elements, optionals))
  }

  #map({ entries, optionals }: MapLiteral): CelType {
    const keys = this.#common(entries.map(([key]) => key))
    const { kind } = resolve(keys)
    if (!['bool', 'int', 'uint', 'string', 'dyn', 'variable'].includes(kind))
      this.#report(entries[0]![0].at, `unsupported key type: ${kind}`)
    const values = entries.map(([, value]) => value)
    return mapOf(keys, this.#common(values, optionals))
  }

  #struct({ at, name, fields }: StructLiteral): CelType {
    const struct = this.#findStruct?.(name)
    for (const { at: place, name: field, value, isOptional } of fields) {
      const type = isOptional ? this.#valueType(value) : this.check(value)
      if (struct === undefined) continue
      const declared = struct.fields.get(field)?.type
      if (declared !== undefined && unify(declared, type)) continue
      const expected = declared === undefined ? '' : formatType(declared)
      this.#report(
        place,
        `expected type of field '${field}' is '${expected}' but provided type is '${formatType(type)}'`,
      )
    }
    return struct ?? this.#undeclared(at, name)
  }

  /** Returns the type that all nodes have in common, or dyn. */
  #common(nodes: readonly Node[], optionals?: ReadonlySet<number>): CelType {
    let common: CelType | undefined
    for (const [i, node] of nodes.entries()) {
      const type = optionals?.has(i) ? this.#valueType(node) : this.check(node)
      if (common === undefined) common = type
      else if (!unify(common, type))
        this.#report(node.at, `expected type '${formatType(common)}' but found '${formatType(type)}'`)
      else common = moreGeneral(common, type)
    }
    return common ?? typeVariable()
  }

  /** Checks a node that must be an optional. Returns the type of its value. */
  #valueType(node: Node): CelType {
    const type = resolve(this.check(node))
    if (type.kind === 'optional') return type.of
    if (isDynamic(type)) return types.dyn
    return this.#report(node.at, `expected type 'optional_type(${formatType(type)})' but found '${formatType(type)}'`)
  }

  #fold(node: Fold): CelType {
    const isOptional = node.macro === 'optMap' || node.macro === 'optFlatMap'
    const range = isOptional ? this.#valueType(node.range) : resolve(this.check(node.range))
    const type = isOptional || node.macro === 'bind' ? range : this.#elementType(node, range)
    const scopes = this.#scopes.length
    this.#scopes.push({ name: node.variable, type: node.second === undefined ? type : indexType(range) })
    if (node.second !== undefined) this.#scopes.push({ name: node.second, type: valueTypeOf(range) })
    const predicate = node.predicate && this.check(node.predicate)
    const transform = node.transform && this.check(node.transform)
    this.#scopes.length = scopes
    if (predicate !== undefined && !unify(types.bool, predicate)) this.#wrongPredicate(node, predicate)
    if (transform !== undefined) return transformed(node.macro, range, transform)
    return node.macro === 'filter' ? listOf(type) : types.bool
  }

  #elementType({ range: { at } }: Fold, range: CelType): CelType {
    if (range.kind === 'list') return range.elem
    if (range.kind === 'map') return range.key
    if (isDynamic(range)) return types.dyn
    const shown = formatType(range)
    const text = `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`
    return this.#report(at, text)
  }

  #wrongPredicate({ macro, predicate }: Fold, predicateType: CelType): void {
    const shown = formatType(predicateType)
    const list = `(${shown}, list(dyn), list(dyn))`
    const conditional = `found no matching overload for '_?_:_' applied to '${list}'`
    const text: { readonly [macro in Fold['macro']]?: string } = {
      all: `found no matching overload for '_&&_' applied to '(bool, ${shown})'`,
      exists: `found no matching overload for '_||_' applied to '(bool, ${shown})'`,
      exists_one: `found no matching overload for '_?_:_' applied to '(${shown}, int, int)'`,
    }
    this.#report(predicate!.at, text[macro] ?? conditional)
  }
}

/**
 * Returns the common type of two compatible types. If one of the types is unknown, the result is unknown. Type
 * parameters are combined in the same way.
 */
function moreGeneral(a: CelType, b: CelType): CelType {
  const [left, right] = [resolve(a), resolve(b)]
  if (left.kind === 'variable' || isDynamic(right)) return right.kind === 'variable' ? left : right
  if (left.kind === 'list' && right.kind === 'list') return listOf(moreGeneral(left.elem, right.elem))
  if (left.kind === 'optional' && right.kind === 'optional') return optionalOf(moreGeneral(left.of, right.of))
  if (left.kind !== 'map' || right.kind !== 'map') return left
  return mapOf(moreGeneral(left.key, right.key), moreGeneral(left.value, right.value))
}

/** Returns the type of the first loop variable of a two-variable macro. */
function indexType(range: CelType): CelType {
  if (range.kind === 'list') return types.int
  return range.kind === 'map' ? range.key : types.dyn
}

/** Returns the type of the second loop variable of a two-variable macro. */
function valueTypeOf(range: CelType): CelType {
  if (range.kind === 'list') return range.elem
  return range.kind === 'map' ? range.value : types.dyn
}

function transformed(macro: Fold['macro'], range: CelType, transform: CelType): CelType {
  switch (macro) {
    case 'optMap':
      return optionalOf(transform)
    case 'optFlatMap':
    case 'transformMapEntry':
    case 'bind':
      return transform
    case 'sortBy':
      return range.kind === 'list' ? range : listOf(types.dyn)
    case 'transformMap':
      return mapOf(indexType(range), transform)
    default:
      return listOf(transform)
  }
}

function literalType(kind: CelType['kind']): CelType {
  return kind === 'null_type' ? types.null : types[kind as 'int']
}

interface Arguments {
  readonly args: readonly CelType[]
  readonly isMember: boolean
}

function matchingOverloads(overloads: readonly Overload[], { args, isMember }: Arguments) {
  // If the types of all arguments are known, the first matching overload is used.
  const first = !args.some(mayBeAnything)
  const matches: { readonly overload: Overload; readonly result: CelType }[] = []
  for (const overload of overloads) {
    if (overload.isMember !== isMember || overload.kinds().length !== args.length) continue
    if (first && overload.forDynamic) continue
    const { params, result } = overload.signature()
    if (!unifyAll(params, first ? args : args.map(unbound))) continue
    matches.push({ overload, result })
    if (first) break
  }
  return matches
}

function mayBeAnything(type: CelType): boolean {
  const resolvedType = resolve(type)
  if (isDynamic(resolvedType) || resolvedType.kind === 'any') return true
  return resolvedType.kind === 'list' && mayBeAnything(resolvedType.elem)
}

/** Replaces type variables with dyn, so that matching one overload does not bind variables for the next overload. */
function unbound(type: CelType): CelType {
  const resolvedType = resolve(type)
  if (resolvedType.kind === 'variable') return types.dyn
  return resolvedType.kind === 'list' ? listOf(unbound(resolvedType.elem)) : resolvedType
}

function noOverload({ name, target }: Call, args: readonly CelType[]): string {
  const shown = args.map(formatType)
  const [first, ...others] = shown
  const applied = target === undefined ? `(${shown.join(', ')})` : `${first}.(${others.join(', ')})`
  return `found no matching overload for '${name}' applied to '${applied}'`
}
