/**
 * Reads an audit policy of kind `Policy` in `audit.<vendor>/v1`, as used with kube-apiserver. Unknown fields and values
 * are errors that name the field, because otherwise a policy could silently record less than its author intended.
 */
import type { Json } from '../../api/json/json.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { readConfiguration } from '../../api/schema/read-configuration.ts'
import { field, s } from '../../api/schema/schema.ts'
import { levels, type Policy, policyOf, stages } from './policy.ts'

const texts = (tag: number, doc: string) => field(tag, s.list(s.string()), { doc })
const stageList = (tag: number) =>
  field(tag, s.list(s.oneOf(...stages)), { doc: 'Stages of a request for which no event is recorded.' })

const groupResources = s.object({
  group: field(1, s.string(), { doc: 'API group; empty for the core group.' }),
  resources: texts(2, 'Resources in the group. Empty matches all.'),
  resourceNames: texts(3, 'Names of objects. Empty matches all.'),
})

const rule = s.object({
  level: field(1, s.oneOf(...levels), { required: true, doc: 'Audit level for matching requests.' }),
  users: texts(2, 'Users whose requests the rule matches.'),
  userGroups: texts(3, 'Groups whose members the rule matches.'),
  verbs: texts(4, 'Verbs that the rule matches.'),
  resources: field(5, s.list(groupResources), { doc: 'Resources that the rule matches.' }),
  namespaces: texts(6, 'Namespaces that the rule matches; the empty string matches cluster-scoped types.'),
  nonResourceURLs: texts(7, 'Non-resource paths that the rule matches; a trailing star matches any suffix.'),
  omitStages: stageList(8),
  omitManagedFields: field(9, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether managedFields are omitted from recorded bodies.',
  }),
})

const fields = {
  metadata: field(1, s.map(s.string()), { doc: 'Metadata of the policy, which the server ignores.' }),
  rules: field(2, s.list(rule), {
    required: true,
    doc: 'Ordered rules. The first rule that matches a request determines the audit level.',
  }),
  omitStages: stageList(3),
  omitManagedFields: field(4, s.boolean(), { doc: 'Default for omitManagedFields in rules that do not set it.' }),
}

/** Reads a policy document. Throws an Error that describes the problem. */
export function readPolicy(value: Json, vendor: Vendor): Policy {
  const read = readConfiguration(value, { vendor, group: 'audit', versions: ['v1'], kind: 'Policy', fields })
  const { rules = [], omitStages = [], omitManagedFields = false } = read
  if (rules.length === 0) throw new Error('rules: a policy needs at least one rule')
  const complete = rules.map((each, i) => {
    const { users = [], userGroups = [], verbs = [], namespaces = [], nonResourceURLs = [] } = each
    const resources = (each.resources ?? []).map(({ group = '', resources = [], resourceNames = [] }) => ({
      group,
      resources,
      resourceNames,
    }))
    const place = `rules[${i}]`
    if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
      throw new Error(`${place}.nonResourceURLs: a rule matches either resources or non-resource paths, not both`)
    for (const [j, url] of nonResourceURLs.entries()) checkPath(url, `${place}.nonResourceURLs[${j}]`)
    for (const [j, { resources: named, resourceNames }] of resources.entries()) {
      if (resourceNames.length > 0 && named.length === 0)
        throw new Error(`${place}.resources[${j}].resourceNames: requires resources`)
      for (const [k, pattern] of named.entries()) checkPattern(pattern, `${place}.resources[${j}].resources[${k}]`)
    }
    return {
      level: each.level ?? 'None',
      users,
      userGroups,
      verbs,
      resources,
      namespaces,
      nonResourceURLs,
      omitStages: each.omitStages ?? [],
      omitManagedFields: each.omitManagedFields ?? omitManagedFields,
    }
  })
  return policyOf(complete, omitStages)
}

function checkPath(url: string, place: string): void {
  if (url === '*') return
  if (!url.startsWith('/')) throw new Error(`${place}: a path must begin with a slash`)
  if (url.slice(0, -1).includes('*')) throw new Error(`${place}: a star may only be the last character`)
}

/** Validates a resource pattern. A star may replace the whole pattern, the resource or the subresource. */
function checkPattern(pattern: string, place: string): void {
  if (pattern === '*' || !pattern.includes('*')) return
  const parts = pattern.split('/')
  if (parts.length === 2 && parts.filter((part) => part === '*').length === 1 && parts.every((part) => part !== ''))
    if (parts.every((part) => part === '*' || !part.includes('*'))) return
  throw new Error(`${place}: ${JSON.stringify(pattern)} must be RESOURCE, RESOURCE/* or */SUBRESOURCE`)
}
