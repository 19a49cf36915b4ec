/** How lists of objects are merged: by the field that tells their elements apart, in apply and in strategic patches. */

export const byType = mergedBy('type')
export const byName = mergedBy('name')
export const byIp = mergedBy('ip')

/** The options of a list whose elements have a key; in a patch they are told apart by its first field. */
export function mergedBy<const K extends readonly [string, ...string[]]>(...keys: K) {
  return { list: 'map', keys, patch: 'merge', mergeKey: keys[0] } as const
}
