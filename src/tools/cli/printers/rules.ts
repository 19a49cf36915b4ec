/**
 * Formats RBAC rules as kubectl does: one row per resource, resource name or path, with all verbs that any rule allows.
 * Rows are sorted by content.
 */
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'

/** An RBAC rule, as in a Role. */
export interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Headings of the columns that `ruleRows` returns. */
export const ruleHeadings = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']

/** Returns one row of cells per resource, resource name or path, sorted by content. */
export function ruleRows(rules: readonly Rule[]): string[][] {
  const { simple, paths } = splitRules(rules)
  return [...simple.values(), ...paths]
    .map((row) => ({ row, order: orderOf(row) }))
    .sort((a, b) => compareUtf8(a.order, b.order))
    .map(({ row: { group, resource, name, path, verbs } }) => [
      qualified(resource, group),
      list(path),
      list(name),
      list(verbs),
    ])
}

/** Returns a name such as `deployments.apps/scale`, with the group between the resource and the subresource. */
function qualified(resource: string, group: string): string {
  const [type = '', ...part] = resource.split('/')
  return [group === '' ? type : `${type}.${group}`, ...part].join('/')
}

interface Row {
  readonly group: string
  readonly resource: string
  /** The resource name to which the row is limited. An empty list means all names. */
  readonly name: readonly string[]
  readonly path: readonly string[]
  readonly verbs: string[]
}

/** Merges rules for the same resource and name into one row. A path has one row per verb. */
function splitRules(rules: readonly Rule[]): { simple: Map<string, Row>; paths: Row[] } {
  const simple = new Map<string, Row>()
  const paths: Row[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name])
    for (const group of apiGroups)
      for (const resource of resources)
        for (const name of names) addTo(simple, { group, resource, name, path: [], verbs: [...verbs] })
    for (const path of nonResourceURLs)
      for (const verb of verbs) paths.push({ group: '', resource: '', name: [], path: [path], verbs: [verb] })
  }
  return { simple, paths }
}

function addTo(rows: Map<string, Row>, row: Row): void {
  const key = JSON.stringify([row.group, row.resource, row.name])
  const existing = rows.get(key)
  if (existing === undefined) rows.set(key, row)
  else existing.verbs.push(...row.verbs)
}

/** Returns the Go representation of a rule. kubectl sorts rules by this text. */
function orderOf({ verbs, group, resource, name, path }: Row): string {
  const [groups, resources] = path.length === 0 ? [list([group]), list([resource])] : ['[]', '[]']
  return `Verbs:${list(verbs)},APIGroups:${groups},Resources:${resources},ResourceNames:${list(name)},NonResourceURLs:${list(path)},`
}

function list(words: readonly string[]): string {
  return `[${words.join(' ')}]`
}
