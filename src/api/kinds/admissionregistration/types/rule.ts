/** A RuleWithOperations matches requests by operation and resource. `*` matches everything. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

const list = (tag: number, doc: string) => field(tag, s.list(s.string()), { doc })

/** Fields of a rule that are in a nested message in Protobuf. */
const resourceFields = {
  apiGroups: list(1, 'API groups to match. An empty string stands for the core group and `*` for all groups.'),
  apiVersions: list(2, 'API versions to match. `*` matches all versions.'),
  resources: list(
    3,
    'Resources to match, such as `pods`, `pods/log` or `*/scale`. `*` matches all resources without their subresources, and `*/*` matches all resources and subresources.',
  ),
  scope: field(4, s.oneOf('*', 'Cluster', 'Namespaced'), {
    zeroValue: 'keep',
    default: '*',
    doc: 'Scope of the resources to match: `Cluster`, `Namespaced`, or `*` for both. Defaults to `*`.',
  }),
}

const fields = {
  operations: list(1, 'Operations to match: `CREATE`, `UPDATE`, `DELETE`, `CONNECT`, or `*` for all operations.'),
  ...inlined(2, resourceFields),
}

/** Returns the fields of a rule for a Protobuf message that inlines the whole rule under the given tag. */
export function ruleFields(tag: number) {
  return inlined(tag, fields)
}

type Rule = InferFields<typeof fields>

export const ruleWithOperations = s.object(fields, {
  name: 'RuleWithOperations',
  doc: 'A rule that matches requests by operation and resource.',
  check: checkRule,
})

/** Validates the operations and resources of a rule. */
export function checkRule(rule: Rule, path: FieldPath): FieldError[] {
  const { operations: done = [], apiGroups = [], apiVersions = [], resources = [] } = rule
  return [
    ...checkAlone(done, child(path, 'operations'), 'operations'),
    ...done.flatMap((each, i) =>
      operations.includes(each) ? [] : [notSupported(at(child(path, 'operations'), i), each, operations)],
    ),
    ...checkAlone(apiGroups, child(path, 'apiGroups'), 'API groups'),
    ...checkAlone(apiVersions, child(path, 'apiVersions'), 'API versions'),
    ...checkNoneEmpty(apiVersions, child(path, 'apiVersions')),
    ...checkResources(resources, child(path, 'resources')),
  ]
}

/** Rejects an empty list, and a list that combines `*` with other items. */
function checkAlone(items: readonly string[], path: FieldPath, noun: string): FieldError[] {
  if (items.length === 0) return [required(path)]
  const isCrowded = items.length > 1 && items.includes('*')
  return isCrowded ? [invalid(path, [...items], `if '*' is present, must not specify other ${noun}`)] : []
}

function checkNoneEmpty(items: readonly string[], path: FieldPath): FieldError[] {
  return items.flatMap((item, i) => (item === '' ? [required(at(path, i))] : []))
}

function checkResources(resources: readonly string[], path: FieldPath): FieldError[] {
  if (resources.length === 0) return [required(path)]
  const lone = resources.filter((each) => each !== '' && !each.includes('/'))
  const isCrowded = resources.length > 1 && resources.includes('*/*')
  const isMixed = lone.includes('*') && lone.at(-1) !== '*'
  const text = 'must not specify other resources'
  return [
    ...checkNoneEmpty(resources, path),
    ...checkCovered(resources, path),
    ...(isCrowded ? [invalid(path, [...resources], `if '*/*' is present, ${text}`)] : []),
    ...(isMixed ? [invalid(path, [...resources], `if '*' is present, ${text} without subresources`)] : []),
  ]
}

// Rejects an item that an earlier item already covers, such as `pods/log` after `pods/*` or `*/log`.
function checkCovered(resources: readonly string[], path: FieldPath): FieldError[] {
  const wholes = new Set<string>()
  const anywhere = new Set<string>()
  return resources.flatMap((each, i) => {
    const slash = each.indexOf('/')
    if (slash < 0) return []
    const resource = each.slice(0, slash)
    const sub = each.slice(slash + 1)
    const by = [...(wholes.has(resource) ? [`${resource}/*`] : []), ...(anywhere.has(sub) ? [`*/${sub}`] : [])]
    if (sub === '*') wholes.add(resource)
    if (resource === '*') anywhere.add(sub)
    return by.map((other) => invalid(at(path, i), each, `if '${other}' is present, must not specify ${each}`))
  })
}
