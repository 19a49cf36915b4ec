/**
 * Rules of roles as people look at them, in the way of kubectl: one row for each resource, resource name or path, with all
 * verbs that any rule allows on it, in the order of what they say.
 */
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'

/** A rule of a role, as servers send it. */
export interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Above the rows. */
export const ruleHeadings = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']

/** The cells of the rows. */
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

/** `deployments.apps/scale`: the group belongs to the type, not to its part. */
function qualified(resource: string, group: string): string {
  const [type = '', ...part] = resource.split('/')
  return [group === '' ? type : `${type}.${group}`, ...part].join('/')
}

interface Row {
  readonly group: string
  readonly resource: string
  /** At most one. */
  readonly name: readonly string[]
  readonly path: readonly string[]
  readonly verbs: string[]
}

/** What is said of one resource, and maybe one name, is one row; a path has a row for each verb. */
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
  const known = rows.get(key)
  if (known === undefined) rows.set(key, row)
  else known.verbs.push(...row.verbs)
}

/** The text of a rule as a program in Go prints it: by that kubectl sorts. */
function orderOf({ verbs, group, resource, name, path }: Row): string {
  const [groups, resources] = path.length === 0 ? [list([group]), list([resource])] : ['[]', '[]']
  return `Verbs:${list(verbs)},APIGroups:${groups},Resources:${resources},ResourceNames:${list(name)},NonResourceURLs:${list(path)},`
}

function list(words: readonly string[]): string {
  return `[${words.join(' ')}]`
}
