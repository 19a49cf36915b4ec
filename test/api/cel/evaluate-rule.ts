/** Helpers that compile rules for JSON data with a schema, and that evaluate rules within a budget. */

import { Budget } from '../../../src/api/cel/budget.ts'
import { fromJson } from '../../../src/api/cel/json-values.ts'
import { loadPatternEngine } from '../../../src/api/cel/pattern-engine.ts'
import { type Compiled, compileRule, type Environment } from '../../../src/api/cel/program.ts'
import { declaredTypeOf } from '../../../src/api/cel/schema-types.ts'
import { CelError } from '../../../src/api/cel/values.ts'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

const readPattern = await loadPatternEngine()
const any: JsonObject = { type: 'object' }

function declaredOf(schema: JsonObject) {
  return declaredTypeOf(schema, { prefix: 'x-orch-', isResource: false })!
}

export function compileForJson(rule: string, schema = any, version?: number): Compiled {
  return runToCompletion(compileForJsonSliced(rule, schema, { version }))
}

/** Returns the estimated cost of a rule in a Kubernetes version. */
export function estimateOf(
  rule: string,
  { schema, costVersion }: { readonly schema: JsonObject; readonly costVersion: number },
): number {
  const compiled = runToCompletion(compileForJsonSliced(rule, schema, { costVersion }))
  if (compiled.outcome === 'invalid') throw new Error(compiled.why)
  return compiled.program.maxCost
}

/** Compiles a rule like `compiled`, but in steps between which the caller can yield. */
export function compileForJsonSliced(
  rule: string,
  schema = any,
  versions: Pick<Environment, 'version' | 'costVersion'> = {},
): Generator<void, Compiled> {
  const declared = declaredOf(schema)
  const variables = new Map([
    ['self', declared],
    ['oldSelf', declared],
  ])
  return compileRule(rule, { variables, readPattern, ...versions })
}

export interface Data {
  readonly schema?: JsonObject
  readonly self?: Json
  readonly oldSelf?: Json
  readonly limit?: number
}

/** Returns whether a rule holds, or the error if the rule cannot be compiled or evaluated. */
export function outcomeOf(rule: string, data: Data = {}): boolean | string {
  const { schema = any } = data
  const made = compileForJson(rule, schema)
  return made.outcome === 'invalid' ? made.why : run(made.program, data).result
}

/** Returns the estimated and the actual cost of a rule. */
export function costsOf(rule: string, data: Data = {}): { readonly estimated: number; readonly actual: number } {
  const made = compileForJson(rule, data.schema)
  if (made.outcome === 'invalid') throw new Error(made.why)
  return { estimated: made.program.maxCost, actual: run(made.program, data).cost }
}

function run(program: Extract<Compiled, { outcome: 'program' }>['program'], data: Data) {
  const { schema = any, self = {}, oldSelf = self, limit = 2_000_000 } = data
  const declared = declaredOf(schema)
  const budget = new Budget(limit)
  const values = [fromJson(self, declared), fromJson(oldSelf, declared)]
  try {
    return { result: program.run(values, budget), cost: budget.cost }
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    return { result: error.message, cost: budget.cost }
  }
}
