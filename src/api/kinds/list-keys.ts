/** Merge keys of object lists, for apply and strategic merge patches. */

export const byType = mergedBy('type')
export const byName = mergedBy('name')
export const byIp = mergedBy('ip')

/** Options for a list whose elements are merged by key fields. Strategic merge patches use only the first key. */
export function mergedBy<const K extends readonly [string, ...string[]]>(...keys: K) {
  return { list: 'map', keys, patch: 'merge', mergeKey: keys[0] } as const
}
