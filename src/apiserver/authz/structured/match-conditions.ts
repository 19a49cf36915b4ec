/**
 * The match conditions of an authorization webhook: CEL expressions over `request`, which is the spec of the
 * SubjectAccessReview in v1. The server calls the webhook only for requests that meet all conditions.
 */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { fromJson } from '../../../api/cel/json-values.ts'
import { compileRule, type Program } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import { type CelType, listOf, mapOf, types } from '../../../api/cel/types.ts'
import { CelError } from '../../../api/cel/values.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { FieldPath } from '../../../api/model/field-error.ts'
import { ConfigurationFault } from '../../../api/schema/read-configuration.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'

/** Maximum cost of one condition, as in Kubernetes. */
const maxCost = 1_000_000

const declare = (type: CelType, form: DeclaredType['form']): DeclaredType => ({
  type,
  form,
  maxElements: Number.POSITIVE_INFINITY,
  minBytes: 1,
})
const objectOf = (members: { readonly [name: string]: DeclaredType }): DeclaredType => {
  const fields = new Map(Object.entries(members))
  return { ...declare({ kind: 'object', fields }, 'object'), fields }
}
const listType = (elem: DeclaredType): DeclaredType => ({ ...declare(listOf(elem.type), 'list'), elem })

const text = declare(types.string, 'string')
const texts = listType(text)
const selector = objectOf({
  rawSelector: text,
  requirements: listType(objectOf({ key: text, operator: text, values: texts })),
})
const resource = {
  namespace: text,
  verb: text,
  group: text,
  version: text,
  resource: text,
  subresource: text,
  name: text,
}
const requestOf = ({ hasSelectors }: Pick<ConditionParts, 'hasSelectors'>) =>
  objectOf({
    resourceAttributes: objectOf(
      hasSelectors ? { ...resource, fieldSelector: selector, labelSelector: selector } : resource,
    ),
    nonResourceAttributes: objectOf({ path: text, verb: text }),
    user: text,
    groups: texts,
    extra: { ...declare(mapOf(types.string, texts.type), 'map'), elem: texts },
    uid: text,
  })

export interface ConditionParts {
  readonly readPattern: ReadPattern
  /** Kubernetes minor version that determines which CEL functions are available. */
  readonly version: number
  /** Whether conditions can use the selectors of a request. This depends on the Kubernetes version. */
  readonly hasSelectors: boolean
}

/**
 * The result of match conditions: all conditions are met, a condition is unmet, or no condition is unmet but at least
 * one failed.
 */
export type ConditionOutcome = 'met' | 'unmet' | 'failed'

/** Compiles match conditions. `path` is the path of the list in the configuration. Throws ConfigurationFault. */
export function compileConditions(
  sources: readonly string[],
  path: FieldPath,
  { hasSelectors, ...compiling }: ConditionParts,
): (request: JsonObject) => ConditionOutcome {
  const declared = requestOf({ hasSelectors })
  const environment = { ...compiling, variables: new Map([['request', declared]]) }
  const programs = sources.map((source, i) => {
    const compiled = runToCompletion(compileRule(source, environment))
    if (compiled.outcome === 'program') return compiled.program
    const place = `${path}[${i}].expression`
    throw new ConfigurationFault(place, `${place}: ${compiled.why}`)
  })
  return (request) => {
    const value = fromJson(request, declared)
    const outcomes = programs.map((program) => evaluate(program, value))
    if (outcomes.includes('unmet')) return 'unmet'
    return outcomes.includes('failed') ? 'failed' : 'met'
  }
}

function evaluate(program: Program, request: ReturnType<typeof fromJson>): ConditionOutcome {
  try {
    return program.run([request], new Budget(maxCost)) ? 'met' : 'unmet'
  } catch (error) {
    if (error instanceof CelError || error instanceof BudgetExceeded) return 'failed'
    throw error
  }
}
