/**
 * Returns a function that computes a result per object once and caches it as long as the object exists, such as the
 * fields of a schema that concern a reader. The object must never change.
 */
export function memoizeByObject<K extends object, V extends object>(workOut: (object: K) => V): (object: K) => V {
  const known = new WeakMap<K, V>()
  return (object) => {
    let found = known.get(object)
    if (found === undefined) {
      found = workOut(object)
      known.set(object, found)
    }
    return found
  }
}
