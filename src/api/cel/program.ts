/**
 * Compiles rules: the expression is parsed and type-checked, its cost is estimated, and its constant patterns are
 * compiled. `compileRule` returns errors in a rule instead of throwing them.
 */
import type { Call, Node } from './ast.ts'
import { operands } from './ast.ts'
import type { Budget } from './budget.ts'
import { check, type FindStruct } from './checker.ts'
import { estimateCost } from './cost.ts'
import type { DeclaredType } from './declared-type.ts'
import { compile, type Evaluate } from './evaluate.ts'
import { type Issue, SyntaxIssue, showIssues } from './issues.ts'
import type { Functions } from './overload.ts'
import { parse } from './parser.ts'
import type { Pattern, ReadPattern } from './regex.ts'
import type { CelType } from './types.ts'
import { CelError, type Value } from './values.ts'

/** A compiled expression. */
export interface Program {
  /** Names of the declared variables that the expression uses. */
  readonly used: ReadonlySet<string>
  /** Estimated maximum cost of one evaluation. */
  readonly maxCost: number
  readonly type: CelType
  /**
   * Evaluates the rule and returns whether it is true. Throws CelError if the evaluation fails, and BudgetExceeded if
   * the budget is exhausted.
   */
  readonly run: (variables: readonly Value[], budget: Budget) => boolean
  /** Evaluates the expression and returns its value, which can have any type. Throws the same errors as `run`. */
  readonly evaluate: (variables: readonly Value[], budget: Budget) => Value
}

/** The result of compiling an expression: a program, or the reason why it is invalid. */
export type Compiled =
  | { readonly outcome: 'program'; readonly program: Program }
  | { readonly outcome: 'invalid'; readonly why: string }

/** The environment of an expression: its variables, the required result type, and the available functions. */
export interface Environment {
  /**
   * Kubernetes minor version that determines which functions are available. If undefined, all functions are available.
   */
  readonly version?: number | undefined
  /**
   * Kubernetes minor version that determines how costs are estimated. If undefined, costs are estimated as in the
   * newest version.
   */
  readonly costVersion?: number | undefined
  /** Whether the sizes of computed values are unknown. See `EstimateOptions`. */
  readonly hasUnknownSizes?: boolean
  /** Whether `cel.bind` is available. */
  readonly hasBind?: boolean
  /** Required type of the result. Defaults to bool. `any` accepts any type. */
  readonly result?: CelType['kind'] | 'any'
  /** Types of the declared variables, in the order in which their values are passed. */
  readonly variables: ReadonlyMap<string, DeclaredType>
  readonly readPattern: ReadPattern
  /**
   * Finds the type of an object that expressions can create, such as `Object.spec`. If undefined, expressions cannot
   * create objects.
   */
  readonly findStruct?: FindStruct | undefined
  /** Functions that are available in addition to the functions of CEL and Kubernetes. */
  readonly ownFunctions?: Functions | undefined
}

/** Compiles a rule. Yields between the stages of compilation, because the rule may be long. */
export function* compileRule(text: string, environment: Environment): Generator<void, Compiled> {
  const { variables, version, costVersion, hasUnknownSizes, findStruct, ownFunctions, result = 'bool' } = environment
  // Yield before parsing, because an object may contain hundreds of expressions whose compilation ends with a syntax
  // error.
  yield
  const { root, issue } = parsed(text, environment)
  if (root === undefined) return failed(text, [issue])
  yield
  const { type, issues, used } = check(root, typesOf(variables), { version, findStruct, ownFunctions })
  if (issues.length > 0) return failed(text, issues)
  if (result !== 'any' && type.kind !== result)
    return { outcome: 'invalid', why: `cel expression must evaluate to a ${result}` }
  yield
  const patterns = new PatternCache(environment.readPattern)
  const badPattern = yield* patterns.addConstants(root)
  if (badPattern !== undefined) return { outcome: 'invalid', why: `program instantiation failed: ${badPattern}` }
  yield
  const maxCost = estimateCost(root, variables, { version: costVersion, hasUnknownSizes })
  yield
  const evaluate: Program['evaluate'] = valueRunner(compile(root, [...variables.keys()]), patterns)
  const run: Program['run'] = (values, budget) => evaluate(values, budget) === true
  return { outcome: 'program', program: { used, maxCost, type, run, evaluate } }
}

/** The type of an expression if it is valid, or its errors otherwise. */
export type CheckedText =
  | { readonly outcome: 'type'; readonly type: CelType }
  | { readonly outcome: 'invalid'; readonly why: string }

/** Parses and type-checks an expression without compiling patterns or estimating costs. */
export function checkText(
  text: string,
  { variables, version }: Pick<Environment, 'variables' | 'version'>,
): CheckedText {
  const { root, issue } = parsed(text, { version })
  if (root === undefined) return { outcome: 'invalid', why: showIssues(text, [issue]) }
  const { type, issues } = check(root, typesOf(variables), { version })
  return issues.length === 0 ? { outcome: 'type', type } : { outcome: 'invalid', why: showIssues(text, issues) }
}

function typesOf(variables: Environment['variables']): ReadonlyMap<string, CelType> {
  return new Map([...variables].map(([name, { type }]) => [name, type] as const))
}

type Parsed = { readonly root: Node; readonly issue?: never } | { readonly root?: never; readonly issue: Issue }

function parsed(text: string, { version, hasBind }: Pick<Environment, 'version' | 'hasBind'>): Parsed {
  try {
    return { root: parse(text, { version, hasBind }) }
  } catch (error) {
    if (error instanceof SyntaxIssue) return { issue: error.issue }
    throw error
  }
}

function failed(text: string, issues: readonly Issue[]): Compiled {
  return { outcome: 'invalid', why: `compilation failed: ${showIssues(text, issues)}` }
}

function valueRunner(evaluate: Evaluate, patterns: PatternCache): Program['evaluate'] {
  return (variables, budget) =>
    evaluate({ budget, variables: [...variables], pattern: (text) => patterns.get(text, budget) })
}

/** Maximum number of patterns per rule that are compiled at run time and then cached. */
const maxMade = 20

class PatternCache {
  readonly #read: ReadPattern
  readonly #known = new Map<string, Pattern>()
  #made = 0

  constructor(read: ReadPattern) {
    this.#read = read
  }

  /** Compiles each constant pattern of an expression once. Returns the first error. */
  *addConstants(root: Node): Generator<void, string | undefined> {
    for (const source of constantPatterns(root)) {
      if (this.#known.has(source)) continue
      const read = this.#read(source)
      if (read.outcome === 'refused') return read.why
      this.#known.set(source, read.pattern)
      yield
    }
    return undefined
  }

  get(source: string, budget: Budget): Pattern {
    const cachedPattern = this.#known.get(source)
    if (cachedPattern !== undefined) return cachedPattern
    budget.work(patternSteps)
    const read = this.#read(source)
    if (read.outcome === 'refused') throw new CelError(read.why)
    if (this.#made++ < maxMade) this.#known.set(source, read.pattern)
    return read.pattern
  }
}

/**
 * Cost of compiling a pattern, in budget steps. The cost is so high that the clock is checked after every compilation.
 */
const patternSteps = 20_000

function* constantPatterns(root: Node): Generator<string> {
  const queue: Node[] = [root]
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    const source = node.kind === 'call' ? patternOf(node) : undefined
    if (source !== undefined) yield source
    queue.push(...childrenOf(node))
  }
}

const withPatterns = new Set(['matches', 'find', 'findAll'])

function patternOf(call: Call): string | undefined {
  const pattern = operands(call)[1]
  const isConstant = withPatterns.has(call.name) && pattern?.kind === 'literal' && typeof pattern.value === 'string'
  return isConstant ? (pattern.value as string) : undefined
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'select':
      return [node.operand]
    case 'call':
      return operands(node)
    case 'list':
      return node.elements
    case 'map':
      return node.entries.flat()
    case 'struct':
      return node.fields.map(({ value }) => value)
    case 'fold':
      return [node.range, node.predicate, node.transform].filter((part) => part !== undefined)
    default:
      return []
  }
}
