/**
 * Limits the number of managers. If there are more than ten updaters, the oldest of each version are merged into one
 * entry with the name `ancient-changes`. Appliers are never merged, because their entries express intent rather than
 * past changes.
 */
import { isEmpty, unionAll } from './field-set.ts'
import { byAge, type Manager } from './managed-fields.ts'

const maxUpdaters = 10
const ancient = 'ancient-changes'

export function foldUpdaters(managers: readonly Manager[]): readonly Manager[] {
  const updaters = managers.filter((manager) => manager.operation === 'Update' && !isEmpty(manager.fields))
  let excess = updaters.length - maxUpdaters
  if (excess <= 0) return managers
  const folded = new Set<Manager>()
  const buckets = new Map<string, Manager[]>()
  for (const manager of updaters.toSorted(byAge)) {
    if (excess === 0) break
    folded.add(manager)
    const bucket = buckets.get(manager.apiVersion)
    if (bucket === undefined) {
      buckets.set(manager.apiVersion, [manager])
      continue
    }
    bucket.push(manager)
    excess--
  }
  return [...managers.filter((manager) => !folded.has(manager)), ...Array.from(buckets.values(), fold)]
}

/**
 * Merges a group of entries into one entry, with the time of the newest entry. A single entry is returned unchanged.
 */
function fold(bucket: readonly Manager[]): Manager {
  const newest = bucket.at(-1)!
  if (bucket.length === 1) return newest
  const fields = unionAll(bucket.map((manager) => manager.fields))
  return { ...newest, name: ancient, subresource: '', fields, encoded: undefined }
}
