/** PolicyRule: what may be done with what. Rules only ever allow. */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const fields = {
  verbs: field(1, s.list(s.string()), {
    zero: 'write',
    published: 'required',
    doc: 'What may be done, such as `get` or `list`; `*` is everything.',
  }),
  apiGroups: field(2, s.list(s.string()), { doc: 'The groups of the resources; empty is the core group, `*` all.' }),
  resources: field(3, s.list(s.string()), {
    doc: 'The resources, such as `pods` or `pods/log`; `*` is all, `*/log` that subresource of all.',
  }),
  resourceNames: field(4, s.list(s.string()), { doc: 'The names of the objects; all if there are none.' }),
  nonResourceURLs: field(5, s.list(s.string()), {
    doc: 'Paths that are no resources, such as `/metrics`; `*` at the end stands for the rest. In ClusterRoles alone.',
  }),
}

export type PolicyRule = InferFields<typeof fields>

const policyRule = s.object(fields, { name: 'PolicyRule', doc: 'What may be done with what.' })

export const policyRules = field(2, s.list(policyRule), {
  zero: 'write',
  published: 'optional',
  doc: 'What the role allows.',
})

interface RoleScope {
  /** Whether the role is for one namespace. */
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
  const [groupsPath, resourcesPath] = [child(path, 'apiGroups'), child(path, 'resources')]
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
