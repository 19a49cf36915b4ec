/**
 * Finds keys that occur more than once in the same object. The native parser hides such keys because it returns only
 * the last value. The functions accept only text that has been parsed and is known to contain duplicate keys.
 */
import { endOfString, maxDuplicates, pathText } from './json-scan.ts'

/** An open object or array during the scan. */
interface Level {
  /** The keys found so far in the object. Undefined for an array. */
  readonly keys: Set<string> | undefined
  /** Key or index of the current value, or of the next value if the scan is between two values. */
  place: string | number
}

/** Number of keys to process before yielding. */
const keysPerSlice = 1000

/** Returns the paths of duplicate keys, up to a maximum number. */
export function* findDuplicatesSliced(text: string): Generator<void, string[]> {
  const levels: Level[] = []
  const duplicates: string[] = []
  let expectKey = false
  let keys = 0
  for (let i = 0; i < text.length && duplicates.length < maxDuplicates; i++) {
    const unit = text[i]
    const level = levels.at(-1)
    if (unit === '"') {
      const end = endOfString(text, i)
      if (expectKey && level?.keys) {
        if (++keys % keysPerSlice === 0) yield
        const key: string = JSON.parse(text.slice(i, end + 1))
        if (level.keys.has(key)) duplicates.push(pathTo(levels, key))
        level.keys.add(key)
        level.place = key
        expectKey = false
      }
      i = end
    } else if (unit === '{' || unit === '[') {
      levels.push({ keys: unit === '{' ? new Set() : undefined, place: 0 })
      expectKey = unit === '{'
    } else if (unit === '}' || unit === ']') {
      levels.pop()
      expectKey = false
    } else if (unit === ',') {
      if (level && typeof level.place === 'number' && !level.keys) level.place++
      expectKey = level?.keys !== undefined
    }
  }
  return duplicates
}

function pathTo(levels: readonly Level[], key: string): string {
  return pathText(
    levels.slice(0, -1).map(({ place }) => place),
    key,
  )
}
