/**
 * Keeps the list of managers bounded: beyond ten updaters the oldest are folded, per version, into one entry named
 * `ancient-changes`. Appliers are never folded: their entries say what they want, not only what happened.
 */
import { isEmpty, union } from './field-set.ts'
import { byAge, type Manager } from './managed-fields.ts'

const maxUpdaters = 10
const ancient = 'ancient-changes'

export function foldUpdaters(managers: readonly Manager[]): readonly Manager[] {
  const updaters = managers.filter((manager) => manager.operation === 'Update' && !isEmpty(manager.fields))
  let excess = updaters.length - maxUpdaters
  if (excess <= 0) return managers
  const folded = new Set<Manager>()
  const buckets = new Map<string, Manager>()
  for (const manager of updaters.toSorted(byAge)) {
    if (excess === 0) break
    const bucket = buckets.get(manager.apiVersion)
    buckets.set(manager.apiVersion, bucket === undefined ? manager : fold(bucket, manager))
    folded.add(manager)
    if (bucket !== undefined) excess--
  }
  return [...managers.filter((manager) => !folded.has(manager)), ...buckets.values()]
}

function fold(older: Manager, newer: Manager): Manager {
  return {
    ...newer,
    name: ancient,
    subresource: '',
    fields: union(older.fields, newer.fields),
    encoded: undefined,
  }
}
