/**
 * `selfsubjectrulesreviews`: what one may do in a namespace, for programs that show or hide what there is to do. It tells
 * what the modes can tell, and whether there may be more.
 */
import type { PolicyRule } from '../authz/rbac/rule.ts'
import {
  type SelfSubjectRulesReview,
  selfSubjectRulesReview,
} from '../kinds/authorization/self-subject-rules-review.ts'
import { badRequest } from '../model/api-error.ts'
import { defined } from '../model/json.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import type { ReviewParts } from './access-reviews.ts'

export function rulesReview({ access }: ReviewParts): Endpoint {
  return {
    kind: selfSubjectRulesReview,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Tells what one may do in a namespace.',
    answer: async ({ object, user }) => {
      const { metadata, spec } = object as SelfSubjectRulesReview
      const { namespace = '' } = spec ?? {}
      if (namespace === '') throw badRequest('no namespace on request: set spec.namespace')
      const { rules, incomplete, notes } = await access().rulesOf(user, namespace)
      const status = {
        resourceRules: rules.filter(({ resources = [] }) => resources.length > 0).map(resourceRule),
        nonResourceRules: rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0).map(pathRule),
        incomplete,
        ...(notes.length === 0 ? {} : { evaluationError: notes.join(', ') }),
      }
      // What was asked is not told again.
      return { ...object!, metadata, spec: {}, status }
    },
  }
}

function resourceRule({ verbs = [], apiGroups, resources, resourceNames }: PolicyRule) {
  return { verbs, ...defined({ apiGroups, resources, resourceNames }) }
}

function pathRule({ verbs = [], nonResourceURLs }: PolicyRule) {
  return { verbs, ...defined({ nonResourceURLs }) }
}
