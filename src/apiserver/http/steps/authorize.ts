/**
 * Authorizes the request before its body is read. If the user may request an explanation, the 403 message says how to
 * request it.
 */

import { accessExplanation } from '../../../api/kinds/ops/access-explanation.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { checkPathSegment } from '../../../api/model/names.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { parseFieldSelector } from '../../../api/selectors/field-selector.ts'
import type { AuditNotes } from '../../audit/record.ts'
import type { Authorizer, Decision, PathAttributes, Question, ResourceAttributes } from '../../authz/authorizer.ts'
import { selectorsIn } from '../../authz/request-selectors.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import type { RequestInfo, ResourceInfo } from '../request/request-info.ts'
import { refusal } from '../response/refusal.ts'

/** Returns the step that authorizes a request and responds with 403 if the user is not allowed to make it. */
export function authorize(authorizer: Authorizer, vendor: Vendor): Step {
  const explanation = explanationIn(vendor)
  const keys = {
    decision: `authorization.${vendor.groupDomain}/decision`,
    reason: `authorization.${vendor.groupDomain}/reason`,
  }
  const refuse = async (question: Question, decision: Decision) => {
    const { verdict } = await authorizer({ user: question.user, attributes: explanation })
    throw refusal(question, decision, { mayAskWhy: verdict === 'allow' })
  }
  const judge = (exchange: Exchange, question: Question, decision: Decision) => {
    if (exchange.audit !== undefined) note(exchange.audit, decision, keys)
    return decision.verdict === 'allow' ? undefined : refuse(question, decision)
  }
  return (exchange) => {
    const { user, info } = exchange
    const question = { user, attributes: requestAttributes(info), trace: exchange }
    const decision = authorizer(question)
    if (decision instanceof Promise) return decision.then((later) => judge(exchange, question, later))
    return judge(exchange, question, decision)
  }
}

/** Adds the authorization decision to the audit event as annotations. */
function note(audit: AuditNotes, { verdict, reason }: Decision, keys: { decision: string; reason: string }): void {
  audit.annotate(keys.decision, verdict === 'allow' ? 'allow' : 'forbid')
  audit.annotate(keys.reason, reason())
}

/** Returns the permission that a user needs to request an explanation of a denied request. */
function explanationIn(vendor: Vendor): ResourceAttributes {
  const { group, version, plural } = accessExplanation
  const where = { group: groupName(vendor, group), version, plural, namespace: '', name: '', subresource: '' }
  return { resource: true, verb: 'create', ...where }
}

/**
 * Throws a 403 unless the authorizer allows the request. The function is synchronous if the authorizer is synchronous.
 */
export function assertAllowed(authorizer: Authorizer, question: Question): void | Promise<void> {
  const decision = authorizer(question)
  if (decision instanceof Promise) {
    return decision.then((later) => {
      if (later.verdict !== 'allow') throw refusal(question, later)
    })
  }
  if (decision.verdict !== 'allow') throw refusal(question, decision)
}

/**
 * Returns the attributes of a request that the authorizer needs: the path, or the resource with its name and selectors.
 */
export function requestAttributes(info: RequestInfo): ResourceAttributes | PathAttributes {
  if (!info.resource) return info
  if (info.name === '') return info.query.size === 0 ? info : selectedBy(info)
  // Authorize a request for a Namespace in that namespace, so that a role in it can allow the request.
  return info.plural === 'namespaces' && info.group === '' ? { ...info, namespace: info.name } : info
}

/**
 * Returns the attributes of a request without a name, including the selectors of a list, watch or deletecollection
 * request.
 */
function selectedBy(info: ResourceInfo): ResourceAttributes {
  const selectors = selectorsIn(info.verb, info.query)
  const attributes = namedBySelector(info)
  return selectors === undefined ? attributes : { ...attributes, selectors }
}

/**
 * If the field selector of a list or watch requires one name, returns the attributes with this name. In that case, the
 * user needs permission only for this object.
 */
function namedBySelector(info: ResourceInfo): ResourceAttributes {
  const [selector, ...more] = info.query.getAll('fieldSelector')
  if (selector === undefined || more.length > 0 || (info.verb !== 'list' && info.verb !== 'watch')) return info
  const name = nameIn(selector)
  return name === undefined || checkPathSegment(name).length > 0 ? info : { ...info, name }
}

/** Returns the name that a field selector requires. Invalid selectors are reported later, when they are used. */
function nameIn(selector: string): string | undefined {
  try {
    return parseFieldSelector(selector).find(({ path, equal }) => path === 'metadata.name' && equal)?.value
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
