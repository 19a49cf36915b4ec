/**
 * What is worked out about an object once, and remembered for as long as the object is there: which fields of a schema
 * concern a reader, for example. It rests on that the object never changes.
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
