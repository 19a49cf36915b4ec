/**
 * The macros of CEL: `has(a.b)`, and macros that declare variables, such as `list.all(x, ...)` and `map.all(key, value,
 * ...)`.
 */
import { type Call, type Fold, type FoldName, foldNames, type Node } from './ast.ts'
import { SyntaxIssue } from './issues.ts'

/**
 * The numbers of arguments that a macro accepts in its one-variable and two-variable forms. Undefined for a form that
 * does not exist.
 */
interface Form {
  readonly one?: readonly number[]
  readonly two?: readonly number[]
  /** Whether the last argument of the macro is an expression that transforms each element. */
  readonly transforms: boolean
}

const quantifier: Form = { one: [2], two: [3], transforms: false }
const forms: { readonly [name in FoldName]: Form } = {
  all: quantifier,
  exists: quantifier,
  exists_one: { one: [2], transforms: false },
  existsOne: { one: [2], two: [3], transforms: false },
  filter: { one: [2], transforms: false },
  map: { one: [2, 3], transforms: true },
  optMap: { one: [2], transforms: true },
  optFlatMap: { one: [2], transforms: true },
  sortBy: { one: [2], transforms: true },
  transformList: { two: [3, 4], transforms: true },
  transformMap: { two: [3, 4], transforms: true },
  transformMapEntry: { two: [3, 4], transforms: true },
  // `bind` has no argument counts, because `readMacro` does not parse namespaced functions such as `cel.bind`.
  bind: { transforms: true },
}

/** Determines which macros are available. */
export interface Dialect {
  /** Kubernetes minor version. If undefined, the macros of all versions are available. */
  readonly version?: number | undefined
  /** Whether `cel.bind(name, value, expression)` is available. */
  readonly hasBind?: boolean | undefined
}

/**
 * The Kubernetes minor versions that introduced certain groups of macros. The other macros exist in every version that
 * supports rules.
 */
const optionalsSince = 28
const twoVariablesSince = 32
const sortBySince = 34

/**
 * Returns the node of a macro, or undefined if the call is not a macro. Throws SyntaxIssue if a macro is used
 * incorrectly.
 */
export function readMacro(
  call: Call,
  { version = Number.POSITIVE_INFINITY, hasBind = false }: Dialect,
): Node | undefined {
  const { name, target, args, at } = call
  if (target === undefined) return name === 'has' && args.length === 1 ? presenceOf(args[0]!, at) : undefined
  if (hasBind && name === 'bind' && isName(target, 'cel') && args.length === 3) return binding(call)
  if (!foldNames.includes(name as FoldName)) return undefined
  const { one = [], two = [] } = forms[name as FoldName]
  if (name.startsWith('opt') && version < optionalsSince) return undefined
  if (name === 'existsOne' && version < twoVariablesSince) return undefined
  if (name === 'sortBy' && version < sortBySince) return undefined
  if (one.includes(args.length)) return foldOf(call, target, 1)
  return two.includes(args.length) && version >= twoVariablesSince ? foldOf(call, target, 2) : undefined
}

function presenceOf(argument: Node, at: number): Node {
  if (argument.kind !== 'select' || argument.isTest) throw new SyntaxIssue(at, 'invalid argument to has() macro')
  return { ...argument, isTest: true }
}

function isName(node: Node, name: string): boolean {
  return node.kind === 'identifier' && node.name === name
}

function binding({ args: [variable, range, transform], at }: Call): Fold {
  const name = variableName(variable!)
  return { kind: 'fold', at, macro: 'bind', range: range!, variable: name, predicate: undefined, transform }
}

function variableName(node: Node): string {
  if (node.kind !== 'identifier') throw new SyntaxIssue(node.at, 'argument must be a simple name')
  return node.name
}

function foldOf({ name, args, at }: Call, range: Node, variables: 1 | 2): Fold {
  const names = args.slice(0, variables).map(variableName)
  const parts = args.slice(variables)
  const transforms = forms[name as FoldName].transforms
  return {
    kind: 'fold',
    at,
    macro: name as FoldName,
    range,
    variable: names[0]!,
    second: names[1],
    predicate: transforms && parts.length === 1 ? undefined : parts[0],
    transform: transforms ? parts.at(-1) : undefined,
  }
}
