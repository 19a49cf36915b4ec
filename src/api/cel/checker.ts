/**
 * Type-checks an expression before it is evaluated: each name must be declared, each field must exist, and each call
 * must have a matching function. Errors use the wording of cel-go.
 */
import type { Call, Fold, Identifier, ListLiteral, MapLiteral, Node, Select } from './ast.ts'
import { operands } from './ast.ts'
import { functions } from './functions/all.ts'
import type { Issue } from './issues.ts'
import type { Overload } from './overload.ts'
import {
  type CelType,
  formatType,
  isDynamic,
  listOf,
  mapOf,
  resolve,
  types,
  typeVariable,
  unify,
  unifyAll,
} from './types.ts'
import { kindOf } from './values.ts'

/** Type names are also values. */
export const typeNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes'] as const).map((name) => [name, types[name]] as const),
  ['null_type', types.null],
  ['list', listOf(types.dyn)],
  ['map', mapOf(types.dyn, types.dyn)],
  ['type', { kind: 'type', of: types.dyn }],
  ['google.protobuf.Timestamp', types.timestamp],
  ['google.protobuf.Duration', types.duration],
])

/** Returns the qualified name of a chain of selections: `google.protobuf.Timestamp`. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.isTest) return undefined
  const operand = qualifiedName(node.operand)
  return operand === undefined ? undefined : `${operand}.${node.field}`
}

export interface Checked {
  readonly type: CelType
  readonly issues: readonly Issue[]
  /** The declared variables that the expression uses. */
  readonly used: ReadonlySet<string>
}

/** Sets the types of all nodes and the functions of all calls. */
export function check(root: Node, variables: ReadonlyMap<string, CelType>): Checked {
  const checker = new Checker(variables)
  const type = checker.check(root)
  return { type: resolve(type), issues: checker.issues, used: checker.used }
}

/** Enough to report all errors of most expressions. */
const maxIssues = 100

class Checker {
  readonly issues: Issue[] = []
  readonly used = new Set<string>()
  readonly #variables: ReadonlyMap<string, CelType>
  /** The variables of macros, innermost last. */
  readonly #scopes: { readonly name: string; readonly type: CelType }[] = []

  constructor(variables: ReadonlyMap<string, CelType>) {
    this.#variables = variables
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
      case 'fold':
        return this.#fold(node)
    }
  }

  /** Records an error and returns a type that fits everywhere, so that one error is reported once. */
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
    const type = typeNames.get(name)
    return type === undefined ? this.#undeclared(at, name) : { kind: 'type', of: type }
  }

  #select(node: Select): CelType {
    const { at, field, operand, isTest } = node
    const named = typeNames.get(qualifiedName(node) ?? '')
    if (named !== undefined) return { kind: 'type', of: named }
    const found = resolve(this.check(operand))
    switch (found.kind) {
      case 'map':
        return isTest ? types.bool : found.value
      case 'object': {
        const declared = found.fields.get(field)
        if (declared === undefined) return this.#report(at, `undefined field '${field}'`)
        return isTest ? types.bool : declared.type
      }
      case 'dyn':
      case 'variable':
        return isTest ? types.bool : types.dyn
      default:
        return this.#report(at, `type '${formatType(found)}' does not support field selection`)
    }
  }

  #call(node: Call): CelType {
    const args = operands(node).map((operand) => this.check(operand))
    const isMember = node.target !== undefined
    const known = functions.get(node.name)
    if (known === undefined) return this.#undeclared(node.at, node.name)
    const matching = matchingOverloads(known, { args, isMember })
    if (matching.length === 0) return this.#report(node.at, noOverload(node, args))
    node.overloads = matching.map(({ overload }) => overload)
    const [first, ...others] = matching.map(({ result }) => result)
    return others.every((other) => other === first) ? first! : types.dyn
  }

  #list({ elements }: ListLiteral): CelType {
    return listOf(this.#common(elements))
  }

  #map({ entries }: MapLiteral): CelType {
    const keys = this.#common(entries.map(([key]) => key))
    const { kind } = resolve(keys)
    if (!['bool', 'int', 'uint', 'string', 'dyn', 'variable'].includes(kind))
      this.#report(entries[0]![0].at, `unsupported key type: ${kind}`)
    return mapOf(keys, this.#common(entries.map(([, value]) => value)))
  }

  /** Returns the common type of all nodes. */
  #common(nodes: readonly Node[]): CelType {
    let common: CelType | undefined
    for (const node of nodes) {
      const type = this.check(node)
      if (common === undefined) common = type
      else if (!unify(common, type))
        this.#report(node.at, `expected type '${formatType(common)}' but found '${formatType(type)}'`)
      else if (isDynamic(common)) common = type
    }
    return common ?? typeVariable()
  }

  #fold(node: Fold): CelType {
    const range = resolve(this.check(node.range))
    const type = this.#elementType(node, range)
    this.#scopes.push({ name: node.variable, type })
    const predicate = node.predicate && this.check(node.predicate)
    const transform = node.transform && this.check(node.transform)
    this.#scopes.pop()
    if (predicate !== undefined && !unify(types.bool, predicate)) this.#wrongPredicate(node, predicate)
    if (transform !== undefined) return listOf(transform)
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

  #wrongPredicate({ macro, predicate }: Fold, found: CelType): void {
    const shown = formatType(found)
    const text = {
      all: `found no matching overload for '_&&_' applied to '(bool, ${shown})'`,
      exists: `found no matching overload for '_||_' applied to '(bool, ${shown})'`,
      exists_one: `found no matching overload for '_?_:_' applied to '(${shown}, int, int)'`,
      map: `found no matching overload for '_?_:_' applied to '(${shown}, list(dyn), list(dyn))'`,
      filter: `found no matching overload for '_?_:_' applied to '(${shown}, list(dyn), list(dyn))'`,
    }
    this.#report(predicate!.at, text[macro])
  }
}

function literalType(kind: CelType['kind']): CelType {
  return kind === 'null_type' ? types.null : types[kind as 'int']
}

interface Arguments {
  readonly args: readonly CelType[]
  readonly isMember: boolean
}

function matchingOverloads(known: readonly Overload[], { args, isMember }: Arguments) {
  // If all types are known, the first matching function is used.
  const first = !args.some(mayBeAnything)
  const found: { readonly overload: Overload; readonly result: CelType }[] = []
  for (const overload of known) {
    if (overload.isMember !== isMember || overload.kinds.length !== args.length) continue
    const { params, result } = overload.signature()
    if (!unifyAll(params, first ? args : args.map(unbound))) continue
    found.push({ overload, result })
    if (first) break
  }
  return found
}

function mayBeAnything(type: CelType): boolean {
  const found = resolve(type)
  return isDynamic(found) || (found.kind === 'list' && mayBeAnything(found.elem))
}

/** Replaces a type variable by dyn, so that matching one function does not bind it for the next. */
function unbound(type: CelType): CelType {
  const found = resolve(type)
  if (found.kind === 'variable') return types.dyn
  return found.kind === 'list' ? listOf(unbound(found.elem)) : found
}

function noOverload({ name, target }: Call, args: readonly CelType[]): string {
  const shown = args.map(formatType)
  const [first, ...others] = shown
  const applied = target === undefined ? `(${shown.join(', ')})` : `${first}.(${others.join(', ')})`
  return `found no matching overload for '${name}' applied to '${applied}'`
}
