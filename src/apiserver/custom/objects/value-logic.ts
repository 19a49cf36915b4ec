/**
 * Validates allOf, anyOf, oneOf and not. If no alternative matches, also reports the errors of the best alternative, as
 * kube-apiserver 1.23 does. The best alternative is the one that accepted the most parts of the value. In a tie, the
 * first one wins.
 */

import { isObject, type JsonObject, own } from '../../../api/json/json.ts'
import { at, child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { mayTake } from './effort.ts'
import {
  type About,
  isPrecise,
  keywordRule,
  memberLimit,
  nowhere,
  type RuleTools,
  tooMuch,
  typeRule,
  type ValueRule,
} from './value-rules.ts'

/** The result of validating a value. */
interface Outcome {
  readonly faults: readonly FieldError[]
  /** Number of parts of the value that were validated. Determines the best alternative for the error message. */
  readonly reach: number
}

type Demand = (...about: About) => Outcome

/**
 * Returns the error for an unmet logic keyword. As in kube-apiserver, the error has no field, and its message contains
 * the path.
 */
function unmet(path: FieldPath, rule: string): FieldError {
  const text = `${JSON.stringify(path)} ${rule}`
  return { ...invalid(nowhere, '', text), once: text }
}

function isSpent([, , , effort]: About): boolean {
  return effort.spent
}

const nothing: Outcome = { faults: [], reach: 0 }

type Join = (demands: readonly Demand[], about: About) => Outcome

const logic: { readonly [keyword: string]: Join } = {
  anyOf: (demands, about) => {
    let best: Outcome | undefined
    for (const demand of demands) {
      const outcome = demand(...about)
      if (isSpent(about)) return spent(about)
      if (outcome.faults.length === 0) return outcome
      if (best === undefined || outcome.reach > best.reach) best = outcome
    }
    return failed(unmet(about[1], 'must validate at least one schema (anyOf)'), best)
  },
  oneOf: (demands, about) => {
    const outcomes: Outcome[] = []
    for (const demand of demands) {
      outcomes.push(demand(...about))
      if (isSpent(about)) return spent(about)
    }
    const held = outcomes.filter(({ faults }) => faults.length === 0)
    if (held.length === 1) return held[0]!
    const found = held.length === 0 ? 'Found none valid' : `Found ${held.length} valid alternatives`
    const best = outcomes.reduce((a, b) => (b.reach > a.reach ? b : a))
    const fault = unmet(about[1], `must validate one and only one schema (oneOf). ${found}`)
    return failed(fault, held.length === 0 ? best : undefined)
  },
  allOf: (demands, about) => {
    const outcomes: Outcome[] = []
    for (const demand of demands) if (!isSpent(about)) outcomes.push(demand(...about))
    if (isSpent(about)) return spent(about)
    const held = outcomes.filter(({ faults }) => faults.length === 0).length
    const faults = outcomes.flatMap((outcome) => outcome.faults)
    const reach = outcomes.reduce((sum, outcome) => sum + outcome.reach, 0)
    if (held === demands.length) return { faults, reach }
    const none = held === 0 ? '. None validated' : ''
    return { faults: [...faults, unmet(about[1], `must validate all the schemas (allOf)${none}`)], reach }
  },
}

function spent([, path]: About): Outcome {
  return { faults: [tooMuch(path)], reach: 0 }
}

function failed(fault: FieldError, best: Outcome | undefined): Outcome {
  return { faults: [fault, ...(best?.faults ?? [])], reach: best?.reach ?? 0 }
}

/**
 * Returns a function that validates all logic keywords of a schema, or undefined if the schema has no logic keywords.
 */
function logicOf(schema: JsonObject, tools: RuleTools): Demand | undefined {
  const demands = Object.entries(logic).flatMap(([keyword, join]) => {
    const alternatives = own(schema, keyword)
    if (!Array.isArray(alternatives) || alternatives.length === 0) return []
    const all = (alternatives as JsonObject[]).map((inner) => deepDemand(inner, tools))
    return [(...about: About) => join(all, about)]
  })
  const not = own(schema, 'not')
  if (isObject(not)) demands.push(negation(deepDemand(not, tools)))
  return demands.length === 0 ? undefined : (...about) => sum(demands.map((demand) => demand(...about)))
}

function negation(demand: Demand): Demand {
  return (...about) => {
    const holds = demand(...about).faults.length === 0
    // If validation stopped because it took too much work, the result is unknown, so `not` cannot be evaluated.
    if (isSpent(about)) return spent(about)
    return holds ? failed(unmet(about[1], 'must not validate the schema (not)'), undefined) : nothing
  }
}

function sum(outcomes: readonly Outcome[]): Outcome {
  return {
    faults: outcomes.flatMap(({ faults }) => faults),
    reach: outcomes.reduce((all, { reach }) => all + reach, 0),
  }
}

/** Cost of trying one alternative, in pattern-matching steps. */
const alternativeSteps = 40

/** Returns a function that validates a value, including all nested values, against a schema. */
function deepDemand(schema: JsonObject, tools: RuleTools): Demand {
  const rules = [typeRule(schema, tools), keywordRule(schema, tools)].filter((rule) => rule !== undefined)
  const logic = logicOf(schema, tools)
  const below = demandsBelow(schema, tools)
  return (...about) => {
    if (!mayTake(about[3], alternativeSteps)) return spent(about)
    const faults = rules.flatMap((rule) => rule(...about))
    // The only keywords that apply to null are `type` and `enum`.
    const further = about[0] === null ? nothing : sum([logic?.(...about) ?? nothing, below(about)])
    return { faults: [...faults, ...further.faults], reach: 1 + further.reach }
  }
}

/**
 * Returns a function that validates the members and elements of a value. Before Kubernetes 1.25, their errors contain
 * the path of the list.
 */
function demandsBelow(schema: JsonObject, tools: RuleTools): (about: About) => Outcome {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const ofMembers = properties.map(([name, inner]) => [name, deepDemand(inner as JsonObject, tools)] as const)
  const ofElements = isObject(schema.items) ? deepDemand(schema.items, tools) : undefined
  const isOutside = memberLimit(schema)
  return ([value, path, ...rest]) => {
    if (Array.isArray(value)) {
      const pathOf = (index: number) => (isPrecise(rest[0]) ? at(path, index) : path)
      return ofElements ? sum(value.map((item, i) => ofElements(item, pathOf(i), ...rest))) : nothing
    }
    if (!isObject(value) || isOutside?.(value, rest[0])) return nothing
    const outcomes = ofMembers.flatMap(([name, demand]) => {
      const member = own(value, name)
      return member === undefined ? [] : [demand(member, child(path, name), ...rest)]
    })
    return sum(outcomes)
  }
}

/**
 * Returns the rule for a schema's keywords, including logic keywords. Types, members and elements are validated
 * elsewhere. Returns undefined if there are no such keywords.
 */
export function ruleOf(schema: JsonObject, tools: RuleTools): ValueRule | undefined {
  const keywords = keywordRule(schema, tools)
  const logic = logicOf(schema, tools)
  if (logic === undefined) return keywords
  return (...about) => {
    const faults = keywords?.(...about) ?? []
    return about[0] === null ? faults : [...faults, ...logic(...about).faults]
  }
}

/** Returns a rule that validates a value against everything in a schema, including members and elements. */
export function deepRule(schema: JsonObject, tools: RuleTools): ValueRule {
  const demand = deepDemand(schema, tools)
  return (...about) => [...demand(...about).faults]
}
