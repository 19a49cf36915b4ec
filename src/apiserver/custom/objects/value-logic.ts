/**
 * Demands that are made of others: allOf, anyOf, oneOf and not. Where no alternative holds, the faults of the one that
 * came furthest are told beside the fault itself, as kube-apiserver 1.23 does: the one that looked at most parts of the
 * value, the first of equals.
 */

import { isObject, type JsonObject, own } from '../../../api/json/json.ts'
import { child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { mayTake } from './effort.ts'
import {
  type About,
  keywordRule,
  memberLimit,
  type RuleTools,
  tooMuch,
  typeRule,
  type ValueRule,
} from './value-rules.ts'

/** What became of a demand on a value. */
interface Outcome {
  readonly faults: readonly FieldError[]
  /** How many parts of the value were looked at. */
  readonly reach: number
}

type Demand = (...about: About) => Outcome

/** Where a fault is that belongs to no field, as kube-apiserver writes it. */
export const nowhere: FieldPath = '<nil>'

/** Faults of logic belong to no field: the text names the place. */
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

/** All the logic that stands in this schema; undefined when there is none. */
function logicOf(schema: JsonObject, tools: RuleTools): Demand | undefined {
  const demands = Object.entries(logic).flatMap(([keyword, join]) => {
    const wanted = own(schema, keyword)
    if (!Array.isArray(wanted) || wanted.length === 0) return []
    const all = (wanted as JsonObject[]).map((inner) => deepDemand(inner, tools))
    return [(...about: About) => join(all, about)]
  })
  const not = own(schema, 'not')
  if (isObject(not)) demands.push(negation(deepDemand(not, tools)))
  return demands.length === 0 ? undefined : (...about) => sum(demands.map((demand) => demand(...about)))
}

function negation(demand: Demand): Demand {
  return (...about) => {
    const holds = demand(...about).faults.length === 0
    // What is refused because it takes too long has not been found to differ.
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

/** What it takes to ask one alternative about one value, in the steps of a pattern. */
const alternativeSteps = 40

/** All demands of a schema on a value, its type included, and on what lies below. */
function deepDemand(schema: JsonObject, tools: RuleTools): Demand {
  const rules = [typeRule(schema, tools), keywordRule(schema, tools)].filter((rule) => rule !== undefined)
  const logic = logicOf(schema, tools)
  const below = demandsBelow(schema, tools)
  return (...about) => {
    if (!mayTake(about[3], alternativeSteps)) return spent(about)
    const faults = rules.flatMap((rule) => rule(...about))
    // Null has a type, and is listed or not; nothing else is said of it.
    const further = about[0] === null ? nothing : sum([logic?.(...about) ?? nothing, below(about)])
    return { faults: [...faults, ...further.faults], reach: 1 + further.reach }
  }
}

/** The demands on members and elements. Elements are told under the path of their list. */
function demandsBelow(schema: JsonObject, tools: RuleTools): (about: About) => Outcome {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const ofMembers = properties.map(([name, inner]) => [name, deepDemand(inner as JsonObject, tools)] as const)
  const ofElements = isObject(schema.items) ? deepDemand(schema.items, tools) : undefined
  const isOutside = memberLimit(schema)
  return ([value, path, ...rest]) => {
    if (Array.isArray(value)) return ofElements ? sum(value.map((item) => ofElements(item, path, ...rest))) : nothing
    if (!isObject(value) || isOutside?.(value)) return nothing
    const outcomes = ofMembers.flatMap(([name, demand]) => {
      const member = own(value, name)
      return member === undefined ? [] : [demand(member, child(path, name), ...rest)]
    })
    return sum(outcomes)
  }
}

/** The rule of a schema whose structure others judge: its keywords and its logic. Undefined when it demands nothing. */
export function ruleOf(schema: JsonObject, tools: RuleTools): ValueRule | undefined {
  const keywords = keywordRule(schema, tools)
  const logic = logicOf(schema, tools)
  if (logic === undefined) return keywords
  return (...about) => {
    const faults = keywords?.(...about) ?? []
    return about[0] === null ? faults : [...faults, ...logic(...about).faults]
  }
}

/** The rule of a whole schema, with the demands on members and elements below. */
export function deepRule(schema: JsonObject, tools: RuleTools): ValueRule {
  const demand = deepDemand(schema, tools)
  return (...about) => [...demand(...about).faults]
}
