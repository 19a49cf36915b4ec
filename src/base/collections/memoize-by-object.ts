/**
 * Returns a function that computes a result per object once and caches it as long as the object exists, such as the
 * fields of a schema that concern a reader. The object must never change.
 */
export function memoizeByObject<K extends object, V extends object>(workOut: (object: K) => V): (object: K) => V {
  const results = new WeakMap<K, V>()
  return (object) => {
    let result = results.get(object)
    if (result === undefined) {
      result = workOut(object)
      results.set(object, result)
    }
    return result
  }
}
