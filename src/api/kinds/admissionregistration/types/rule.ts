/** RuleWithOperations: which requests a webhook is asked about, by operation and resource. `*` stands for all. */
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

const fields = {
  operations: list(1, 'What is done: CREATE, UPDATE, DELETE, CONNECT or `*`.'),
  ...inlined(2, {
    apiGroups: list(1, 'The groups of the resources; empty is the core group.'),
    apiVersions: list(2, 'The versions of the resources.'),
    resources: list(3, 'The resources: `pods`, `pods/log`, `pods/*`, `*/scale`, `*` without subresources, `*/*` with.'),
    scope: field(4, s.oneOf('*', 'Cluster', 'Namespaced'), {
      zero: 'keep',
      default: '*',
      doc: 'Whether the objects are in namespaces: Cluster, Namespaced or `*`, the default.',
    }),
  }),
}

type Rule = InferFields<typeof fields>

export const ruleWithOperations = s.object(fields, {
  name: 'RuleWithOperations',
  doc: 'Requests, by what is done and to which resources.',
  check: checkRule,
})

function checkRule(rule: Rule, path: FieldPath): FieldError[] {
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

/** There is something, and nothing beside `*`. */
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

// What one before it covers already: `pods/log` after `pods/*` or `*/log`.
function checkCovered(resources: readonly string[], path: FieldPath): FieldError[] {
  const [wholes, anywhere] = [new Set<string>(), new Set<string>()]
  return resources.flatMap((each, i) => {
    const slash = each.indexOf('/')
    if (slash < 0) return []
    const [resource, sub] = [each.slice(0, slash), each.slice(slash + 1)]
    const by = [...(wholes.has(resource) ? [`${resource}/*`] : []), ...(anywhere.has(sub) ? [`*/${sub}`] : [])]
    if (sub === '*') wholes.add(resource)
    if (resource === '*') anywhere.add(sub)
    return by.map((other) => invalid(at(path, i), each, `if '${other}' is present, must not specify ${each}`))
  })
}
