/**
 * Lists the actions that the caller may perform in a namespace, for programs that show or hide actions
 * (`selfsubjectrulesreviews`). The list contains the rules of the authorization modes that can list rules, and the
 * response states whether the list may be incomplete.
 *
 * A user may have thousands of roles with many rules each. The rules of each role are therefore encoded as JSON only
 * once, in steps that yield to other requests, and each response joins the encoded texts.
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
    doc: 'Lists the actions that the requesting user may perform in a namespace.',
    answer: async ({ object, user }) => {
      const { namespace = '' } = object.spec ?? {}
      if (namespace === '') throw badRequest('no namespace on request: set spec.namespace')
      const { rules, incomplete, notes } = await access().rulesOf(user, namespace)
      const status = {
        ...(await written.join(rules)),
        incomplete,
        ...(notes.length === 0 ? {} : { evaluationError: notes.join(', ') }),
      }
      // As in kube-apiserver, the response does not repeat the request's spec.
      return { ...object, metadata: {}, spec: {}, status }
    },
  }
}

/** The rules of one role as JSON, without the brackets: rules for resources and rules for paths. */
interface Written {
  readonly resources: string
  readonly paths: string
}

/** Estimated cost of encoding one rule, charged to the time slice. */
const unitsPerRule = 5

class WrittenRules {
  readonly #encodedRules = new WeakMap<readonly PolicyRule[], Written>()

  /** Encodes the rules of several roles, reusing cached encodings. Duplicate rules are not removed. */
  async join(roles: readonly (readonly PolicyRule[])[]) {
    const timeSlice = new TimeSlice()
    const texts: Written[] = []
    for (const rules of roles) {
      const text = this.#encodedRules.get(rules) ?? (await this.#write(rules, timeSlice))
      texts.push(text)
    }
    return { resourceRules: list(texts, 'resources'), nonResourceRules: list(texts, 'paths') }
  }

  async #write(rules: readonly PolicyRule[], timeSlice: TimeSlice): Promise<Written> {
    const resources: string[] = []
    const paths: string[] = []
    for (const rule of rules) {
      if ((rule.resources ?? []).length > 0) resources!.push(stringifyJson(resourceRule(rule), resourceRuleType))
      if ((rule.nonResourceURLs ?? []).length > 0) paths!.push(stringifyJson(pathRule(rule), nonResourceRuleType))
      if (timeSlice.charge(unitsPerRule)) await timeSlice.yieldIfDue()
    }
    const written = { resources: resources!.join(), paths: paths!.join() }
    this.#encodedRules.set(rules, written)
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
