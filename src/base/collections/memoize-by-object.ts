/**
 * Returns a function that computes a result once per object, for example the list of selected fields of a schema. The
 * result is cached for the lifetime of the object. The object must not change.
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
