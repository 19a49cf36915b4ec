/**
 * `selfsubjectrulesreviews`: what one may do in a namespace, for programs that show or hide what there is to do. It
 * tells what the modes can tell, and whether there may be more.
 *
 * A user may have thousands of roles with many rules each. So the rules of a role are written as JSON once, in turns
 * with other work, and an answer only joins what was written.
 */

import { stringifyJson, WrittenJson } from '../../api/codec/json.ts'
import { defined, type Json, type JsonObject } from '../../api/json/json.ts'
import {
  nonResourceRuleType,
  resourceRuleType,
  type SelfSubjectRulesReview,
  selfSubjectRulesReview,
} from '../../api/kinds/authorization/self-subject-rules-review.ts'
import { badRequest } from '../../api/model/api-error.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { PolicyRule } from '../authz/rbac/rule.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import type { ReviewParts } from './access-reviews.ts'

export function rulesReview({ access }: ReviewParts): Endpoint<SelfSubjectRulesReview> {
  const written = new WrittenRules()
  return {
    kind: selfSubjectRulesReview,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Lists what the requesting user may do in a namespace.',
    answer: async ({ object, user }) => {
      const { namespace = '' } = object.spec ?? {}
      if (namespace === '') throw badRequest('no namespace on request: set spec.namespace')
      const { rules, incomplete, notes } = await access().rulesOf(user, namespace)
      const status = {
        ...(await written.join(rules)),
        incomplete,
        ...(notes.length === 0 ? {} : { evaluationError: notes.join(', ') }),
      }
      // What was asked is not told again.
      return { ...object, metadata: {}, spec: {}, status }
    },
  }
}

/** The rules of one role: the elements of the two lists of an answer, as JSON. */
interface Written {
  readonly resources: string
  readonly paths: string
}

/** What writing one rule costs, in units of a pace. */
const unitsPerRule = 5

class WrittenRules {
  readonly #known = new WeakMap<readonly PolicyRule[], Written>()

  /** Rules that occur in several of these lists are told once for each. */
  async join(roles: readonly (readonly PolicyRule[])[]) {
    const pace = new TimeSlice()
    const texts: Written[] = []
    for (const rules of roles) {
      const text = this.#known.get(rules) ?? (await this.#write(rules, pace))
      texts.push(text)
    }
    return { resourceRules: list(texts, 'resources'), nonResourceRules: list(texts, 'paths') }
  }

  async #write(rules: readonly PolicyRule[], pace: TimeSlice): Promise<Written> {
    const [resources, paths]: string[][] = [[], []]
    for (const rule of rules) {
      if ((rule.resources ?? []).length > 0) resources!.push(stringifyJson(resourceRule(rule), resourceRuleType))
      if ((rule.nonResourceURLs ?? []).length > 0) paths!.push(stringifyJson(pathRule(rule), nonResourceRuleType))
      if (pace.charge(unitsPerRule)) await pace.yieldIfDue()
    }
    const written = { resources: resources!.join(), paths: paths!.join() }
    this.#known.set(rules, written)
    return written
  }
}

function list(texts: readonly Written[], member: keyof Written): Json {
  const elements = texts.map((text) => text[member]).filter((text) => text !== '')
  return WrittenJson.of(`[${elements.join()}]`)
}

function resourceRule({ verbs = [], apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  return { verbs, ...defined({ apiGroups, resources, resourceNames }) } as unknown as JsonObject
}

function pathRule({ verbs = [], nonResourceURLs }: PolicyRule): JsonObject {
  return { verbs, ...defined({ nonResourceURLs }) } as unknown as JsonObject
}
