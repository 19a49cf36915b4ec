/**
 * The ABAC mode: a policy file with one JSON object per line, read at startup. A policy grants permissions to users:
 *
 *   {"apiVersion":"abac.authorization.orch.io/v1beta1","kind":"Policy",
 *    "spec":{"user":"bob","namespace":"a","apiGroup":"","resource":"pods","readonly":true}}
 *
 * `*` matches everything. As a user or group, `*` matches all authenticated users. ABAC never denies a request that
 * another mode may allow.
 */

import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { authenticatedUsers, type User } from '../../api/model/user.ts'
import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import { messageOf } from '../../base/text/errors.ts'
import { trimEndOf } from '../../base/text/trim-end.ts'
import type { Mode, ToldRules } from './access.ts'
import { allow, noOpinion, type PathAttributes, type ResourceAttributes } from './authorizer.ts'
import type { PolicyRule } from './rbac/rule.ts'

interface Policy {
  readonly user: string
  readonly group: string
  readonly namespace: string
  readonly apiGroup: string
  readonly resource: string
  readonly nonResourcePath: string
  readonly readonly: boolean
}

/** Parses a policy file. Throws an Error that contains the number of the invalid line. */
export function abac(text: string, vendor: Vendor): Mode {
  const policies = readPolicies(text, vendor)
  return {
    authorizer: ({ user, attributes }) => {
      return policies.some((policy) => isFor(policy, user) && covers(policy, attributes)) ? allow : noOpinion
    },
    rulesOf: (user, namespace) => rulesOf(policies, user, namespace),
  }
}

const maxPolicies = 10_000

function readPolicies(text: string, vendor: Vendor): Policy[] {
  const lines = text.split(/\r?\n/)
  const numbered = lines.map((line, i) => ({ line: line.trim(), number: i + 1 }))
  const ruleLines = numbered.filter(({ line }) => line !== '' && !line.startsWith('#'))
  if (ruleLines.length > maxPolicies) throw new Error(`it has ${ruleLines.length} policies, more than ${maxPolicies}`)
  return ruleLines.map(({ line, number }) => {
    try {
      return readPolicy(JSON.parse(line) as Json, vendor)
    } catch (error) {
      throw new Error(`line ${number}: ${messageOf(error)}`)
    }
  })
}

function readPolicy(value: Json, vendor: Vendor): Policy {
  if (!isObject(value)) throw new Error('a policy must be a JSON object')
  const supportedVersion = apiVersionOf(vendor, 'abac.authorization', 'v1beta1')
  if (own(value, 'apiVersion') !== supportedVersion || own(value, 'kind') !== 'Policy')
    throw new Error(`a policy must have apiVersion ${supportedVersion} and kind Policy`)
  const spec = own(value, 'spec')
  if (!isObject(spec)) throw new Error('a policy must have a spec')
  refuseUnknown(spec)
  return everybody({
    user: stringField(spec, 'user'),
    group: stringField(spec, 'group'),
    namespace: stringField(spec, 'namespace'),
    apiGroup: stringField(spec, 'apiGroup'),
    resource: stringField(spec, 'resource'),
    nonResourcePath: stringField(spec, 'nonResourcePath'),
    readonly: own(spec, 'readonly') === true,
  })
}

const fields = new Set(['user', 'group', 'namespace', 'apiGroup', 'resource', 'nonResourcePath', 'readonly'])

function refuseUnknown(spec: JsonObject): void {
  for (const key of Object.keys(spec))
    if (!fields.has(key)) throw new Error(`spec.${key} is unknown; known fields are ${[...fields].join(', ')}`)
}

function stringField(spec: JsonObject, field: string): string {
  const value = own(spec, field) ?? ''
  if (typeof value !== 'string') throw new Error(`spec.${field} must be a string`)
  return value
}

function everybody(policy: Policy): Policy {
  if (policy.user !== '*' && policy.group !== '*') return policy
  const user = policy.user === '*' ? '' : policy.user
  return { ...policy, user, group: authenticatedUsers }
}

/**
 * Whether a policy applies to a user. If the policy names a user and a group, both must match. If the policy names
 * neither, it applies to nobody.
 */
function isFor({ user, group }: Policy, { name, groups }: User): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === name) && (group === '' || groups.includes(group))
}

const readingVerbs = ['get', 'list', 'watch']

function covers(policy: Policy, attributes: ResourceAttributes | PathAttributes): boolean {
  if (policy.readonly && !readingVerbs.includes(attributes.verb)) return false
  if (!attributes.resource) return coversPath(policy.nonResourcePath, attributes.path)
  const { namespace, plural, group } = attributes
  return is(policy.namespace, namespace) && is(policy.resource, plural) && is(policy.apiGroup, group)
}

function is(ruleLines: string, value: string): boolean {
  return ruleLines === '*' || ruleLines === value
}

function coversPath(ruleLines: string, path: string): boolean {
  if (ruleLines === '') return false
  return is(ruleLines, path) || (ruleLines.endsWith('*') && path.startsWith(trimEndOf(ruleLines, '*')))
}

function rulesOf(policies: readonly Policy[], user: User, namespace: string): ToldRules {
  const own = policies.filter((policy) => isFor(policy, user))
  const rules = own.flatMap((policy): PolicyRule[] => {
    const verbs = policy.readonly ? readingVerbs : ['*']
    const here = is(policy.namespace, namespace) && policy.resource !== ''
    return [
      ...(here ? [{ verbs, apiGroups: [policy.apiGroup], resources: [policy.resource] }] : []),
      ...(policy.nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [policy.nonResourcePath] }]),
    ]
  })
  return { rules: [rules], incomplete: false, notes: [] }
}
