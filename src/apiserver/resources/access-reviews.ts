/**
 * Defines the access reviews, which report whether a user may perform an action. The server's authorizer decides in the
 * same way as for a request. `subjectaccessreviews` is for any user, `localsubjectaccessreviews` for any user in one
 * namespace, and `selfsubjectaccessreviews` for the caller.
 */

import type { Question, SubjectSpec } from '../../api/kinds/authorization/review.ts'
import { selfSubjectAccessReview } from '../../api/kinds/authorization/self-subject-access-review.ts'
import {
  localSubjectAccessReview,
  type SubjectAccessReview,
  subjectAccessReview,
} from '../../api/kinds/authorization/subject-access-review.ts'
import { badRequest } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { KindOf } from '../../api/schema/kind.ts'
import type { Access } from '../authz/access.ts'
import type { Decision, PathAttributes, ResourceAttributes } from '../authz/authorizer.ts'
import { selectorsOfReview } from '../authz/request-selectors.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'

export interface ReviewParts {
  readonly vendor: Vendor
  /**
   * Returns the functions that check permissions. Call this function only while handling a request, because the
   * functions need the catalogue, which in turn needs these endpoints.
   */
  readonly access: () => Access
}

export function accessReviews(parts: ReviewParts): Endpoint[] {
  return [
    review(subjectAccessReview, 'Decides whether a user may perform an action.', async ({ object }) => {
      const { metadata, spec } = object
      return { ...object, metadata, status: await decide(parts, userOf(spec ?? {}), spec ?? {}) }
    }),
    review(
      localSubjectAccessReview,
      'Decides whether a user may perform an action in a namespace.',
      async (request) => {
        const { metadata, spec } = request.object
        assertNamespace(request)
        return { ...request.object, metadata, status: await decide(parts, userOf(spec ?? {}), spec ?? {}) }
      },
    ),
    review(
      selfSubjectAccessReview,
      'Decides whether the requesting user may perform an action.',
      async ({ object, user }) => {
        const { metadata, spec } = object
        return { ...object, metadata, status: await decide(parts, user, spec ?? {}) }
      },
    ),
  ]
}

function review<T>(kind: KindOf<T>, doc: string, answer: Endpoint<T>['answer']): Endpoint<T> {
  const common = { subresource: '', verbs: ['create'], type: undefined, admits: 'CREATE' } as const
  return { ...common, kind, recordsManager: true, doc, answer }
}

/** Returns the user whose permissions a review asks about. */
export function userOf({ user = '', uid = '', groups = [], extra = {} }: SubjectSpec): User {
  return { name: user, uid, groups, extra: new Map(Object.entries(extra)) }
}

async function decide({ access }: ReviewParts, user: User, question: Question) {
  const { resourceAttributes: asked } = question
  const selectors = asked === undefined || !hasSelectors(asked) ? undefined : selectorsOfReview(asked)
  const attributes = attributesOf(question)
  const restricted = selectors === undefined ? attributes : { ...attributes, selectors: () => selectors }
  return statusOf(await access().authorizer({ user, attributes: restricted }), selectors?.errors ?? [])
}

function hasSelectors({ fieldSelector, labelSelector }: NonNullable<Question['resourceAttributes']>): boolean {
  return fieldSelector !== undefined || labelSelector !== undefined
}

/**
 * Returns the action that a review asks about, as attributes for the authorizer. A review names either a resource or a
 * path.
 */
export function attributesOf(question: Question): ResourceAttributes | PathAttributes {
  const { resourceAttributes: asked, nonResourceAttributes: path } = question
  if (asked === undefined) return { resource: false, verb: path?.verb ?? '', path: path?.path ?? '' }
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = asked
  return { resource: true, verb, group, version, plural: resource, subresource, namespace, name }
}

function statusOf({ verdict, reason }: Decision, errors: readonly string[]) {
  const why = reason()
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(why === '' ? {} : { reason: why }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

/**
 * Throws an error unless the review is for the namespace of the request, because the caller is authorized only in that
 * namespace.
 */
function assertNamespace({ object, namespace }: EndpointRequest<SubjectAccessReview>): void {
  const asked = object.spec?.resourceAttributes?.namespace ?? ''
  if (asked !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
}
