/** A PolicyRule permits verbs on resources or URLs. There are no deny rules. */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const fields = {
  verbs: field(1, s.list(s.string()), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Verbs that the rule permits, such as `get` or `list`. `*` permits all verbs.',
  }),
  apiGroups: field(2, s.list(s.string()), {
    doc: 'API groups of the resources. An empty string stands for the core group and `*` for all groups.',
  }),
  resources: field(3, s.list(s.string()), {
    doc: 'Resources that the rule covers, such as `pods` or `pods/log`. `*` covers all resources, and `*/log` covers all log subresources.',
  }),
  resourceNames: field(4, s.list(s.string()), {
    doc: 'Names of the objects that the rule covers. If empty, the rule covers all objects.',
  }),
  nonResourceURLs: field(5, s.list(s.string()), {
    doc: 'Non-resource URLs that the rule covers, such as `/metrics` or `/logs/*`. Allowed only in ClusterRoles.',
  }),
}

export type PolicyRule = InferFields<typeof fields>

const policyRule = s.object(fields, {
  name: 'PolicyRule',
  doc: 'A rule that permits verbs on resources or non-resource URLs.',
})

export const policyRules = field(2, s.list(policyRule), {
  zeroValue: 'write',
  published: 'optional',
  doc: 'Rules of the role. A request is permitted if it matches at least one rule.',
})

interface RoleScope {
  /** Whether the rule is in a Role. Rules in Roles cannot grant access to non-resource URLs. */
  readonly namespaced: boolean
}

export function checkRules(rules: readonly PolicyRule[], scope: RoleScope): FieldError[] {
  return rules.flatMap((rule, i) => {
    const path = at('rules', i)
    const { verbs = [], nonResourceURLs: urls = [] } = rule
    return [
      ...(verbs.length === 0 ? [required(child(path, 'verbs'), 'verbs must contain at least one value')] : []),
      ...(urls.length === 0 ? checkResources(rule, path) : checkUrls(rule, child(path, 'nonResourceURLs'), scope)),
    ]
  })
}

function checkResources({ apiGroups = [], resources = [] }: PolicyRule, path: FieldPath): FieldError[] {
  const groupsPath = child(path, 'apiGroups')
  const resourcesPath = child(path, 'resources')
  return [
    ...(apiGroups.length === 0 ? [required(groupsPath, 'resource rules must supply at least one api group')] : []),
    ...(resources.length === 0 ? [required(resourcesPath, 'resource rules must supply at least one resource')] : []),
  ]
}

function checkUrls(rule: PolicyRule, path: FieldPath, { namespaced }: RoleScope): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs: urls = [] } = rule
  const isBoth = apiGroups.length + resources.length + resourceNames.length > 0
  return [
    ...(namespaced ? [invalid(path, urls, 'namespaced rules cannot apply to non-resource URLs')] : []),
    ...(isBoth ? [invalid(path, urls, 'rules cannot apply to both regular resources and non-resource URLs')] : []),
  ]
}
