/**
 * Finds the metadata in a stored object's JSON without parsing it. Clients that watch only metadata, such as the
 * garbage collector, receive just the metadata for every change to every object.
 */

const member = '"metadata":{'
/** Matches the kind and the API version, which precede the metadata of most objects. */
const plainStart = /^\{(?:"(?:kind|apiVersion)":"[^"\\]*",){2}$/
/** Maximum number of bytes to examine before the metadata. */
const maxStart = 1000
const [quote, backslash, open, close] = [...'"\\{}'].map((character) => character.charCodeAt(0))

/**
 * Returns the bytes of the `metadata` member. Returns undefined if members other than the kind and the API version
 * precede the metadata, as in objects that older versions of this server wrote.
 */
export function metadataText(json: Buffer): Buffer | undefined {
  const at = json.subarray(0, maxStart).indexOf(member)
  if (at < 0 || !plainStart.test(json.toString('latin1', 0, at))) return undefined
  const start = at + member.length - 1
  const end = endOfObject(json, start)
  return end === undefined ? undefined : json.subarray(start, end)
}

/** Returns the offset after the object that starts at the given position. */
function endOfObject(json: Buffer, start: number): number | undefined {
  let depth = 0
  for (let i = start; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) i = endOfString(json, i)
    else if (byte === open) depth++
    else if (byte === close && --depth === 0) return i + 1
  }
  return undefined
}

/** Returns the offset of the quote that ends a string. */
function endOfString(json: Buffer, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    if (json[i] === backslash) i++
    else if (json[i] === quote) return i
  }
  return json.length
}
