/**
 * Copies selected fields of an object's JSON without parsing it. The JSON must be valid and compact, as this server
 * writes it. The scan stops after the last selected field.
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'

/** The members to copy from an object. */
export interface Cut {
  readonly members: readonly CutMember[]
  /** The members by key. Undefined if there are so few members that comparing them one by one is faster. */
  readonly byKey: ReadonlyMap<string, CutMember> | undefined
}

/** Maximum number of members for which comparing each key with all members is faster than a map lookup. */
const fewMembers = 8

interface CutMember {
  /** JSON text of the key, including the quotes, to compare with the document. */
  readonly key: Buffer
  /** The selection within the value, or undefined for the whole value. */
  readonly within: Cut | undefined
}

/** Number of bytes to read between yields. Reading them takes at most a few milliseconds. */
const bytesPerSlice = 16 * 1024

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Converts field paths to a set of members to copy. A path includes all fields below it. */
export function cutOf(paths: readonly (readonly string[])[]): Cut {
  const groups = Map.groupBy(paths, ([key]) => key!)
  const members = Array.from(groups, ([key, group]): CutMember => {
    const rests = group.map(([, ...rest]) => rest)
    return { key: jsonKey(key), within: rests.some((rest) => rest.length === 0) ? undefined : cutOf(rests) }
  })
  if (members.length <= fewMembers) return { members, byKey: undefined }
  return { members, byKey: new Map(members.map((member) => [member.key.toString('latin1'), member])) }
}

function jsonKey(key: string): Buffer {
  return Buffer.from(JSON.stringify(key))
}

/** Copies selected fields of successive objects, reusing the same memory for all of them. */
export class Cutter {
  readonly #cut: Cut
  #memory = Buffer.allocUnsafeSlow(4096)
  #used = 0
  #json: Buffer = Buffer.alloc(0)
  #at = 0
  /** Offset in the document at the last yield. */
  #yieldedAt = 0
  /** Whether the current value contains the last selected field. If so, the scan may stop inside the value. */
  #isLast = true

  constructor(cut: Cut) {
    this.#cut = cut
  }

  /**
   * Returns the selected members of an object as JSON. `first` is the offset at which its members begin. The next call
   * reuses the returned buffer.
   */
  cut(json: Buffer, first = 1): Buffer {
    return runToCompletion(this.cutSliced(json, first))
  }

  /** Like `cut`, but yields periodically so that other work can run. */
  *cutSliced(json: Buffer, first = 1): Generator<void, Buffer> {
    // The output is never longer than the input, so this buffer is large enough.
    if (this.#memory.length < json.length) this.#memory = Buffer.allocUnsafeSlow(json.length)
    this.#json = json
    this.#at = first
    this.#yieldedAt = first
    this.#used = 0
    this.#isLast = true
    yield* this.#copyMembers(this.#cut)
    return this.#memory.subarray(0, this.#used)
  }

  /** Copies the selected members of the object at the current offset. Returns whether there were any. */
  *#copyMembers(cut: Cut): Generator<void, boolean> {
    const json = this.#json
    const isLast = this.#isLast
    const start = this.#used
    this.#put(openBrace)
    let missing = cut.members.length
    while (json[this.#at] === quote) {
      const member = this.#memberAt(cut)
      if (member === undefined) this.#at = endOfValue(json, this.#valueAt())
      else {
        missing--
        this.#isLast = isLast && missing === 0
        yield* this.#copyMember(member, start)
        if (this.#isLast) break
      }
      if (json[this.#at] === comma) this.#at++
      if (missing === 0) this.#at = endOfRest(json, this.#at)
      if (this.#isDue()) yield
    }
    // Skip the closing brace of the source object, and write the copy's closing brace.
    this.#at++
    this.#put(closeBrace)
    return this.#used > start + 2
  }

  #memberAt(cut: Cut): CutMember | undefined {
    const json = this.#json
    if (cut.byKey !== undefined)
      return cut.byKey.get(json.toString('latin1', this.#at, endOfString(json, this.#at) + 1))
    for (const member of cut.members) if (isKeyAt(json, this.#at, member.key)) return member
    return undefined
  }

  /** Returns the offset of the current member's value, after its key and colon. */
  #valueAt(): number {
    return endOfString(this.#json, this.#at) + 2
  }

  *#copyMember({ key, within }: CutMember, start: number): Generator<void, void> {
    const before = this.#used
    if (before > start + 1) this.#put(comma)
    this.#used += key.copy(this.#memory, this.#used)
    this.#put(0x3a)
    this.#at = this.#valueAt()
    if (!(yield* this.#copyValue(within))) this.#used = before
  }

  /** Copies the selected parts of the value at the current offset. Returns whether there were any. */
  *#copyValue(within: Cut | undefined): Generator<void, boolean> {
    const json = this.#json
    const first = json[this.#at]
    if (within !== undefined && first === openBrace) {
      this.#at++
      return yield* this.#copyMembers(within)
    }
    if (within !== undefined && first === openBracket) return yield* this.#copyElements(within)
    const start = this.#at
    this.#at = endOfValue(json, start)
    // A scalar contains no fields, and therefore no selected fields.
    if (within !== undefined) return false
    this.#used += json.copy(this.#memory, this.#used, start, this.#at)
    return true
  }

  /**
   * Copies the elements of a list. Copies objects and lists even if nothing in them is selected, so that all elements
   * keep their indexes.
   */
  *#copyElements(within: Cut): Generator<void, boolean> {
    const json = this.#json
    this.#put(openBracket)
    this.#at++
    const start = this.#used
    while (this.#at < json.length && json[this.#at] !== closeBracket) {
      const before = this.#used
      if (before > start) this.#put(comma)
      const from = this.#used
      this.#isLast = false
      yield* this.#copyValue(within)
      if (this.#used === from) this.#used = before
      if (json[this.#at] === comma) this.#at++
      if (this.#isDue()) yield
    }
    this.#at++
    this.#put(closeBracket)
    return true
  }

  /** Returns whether enough of the document has been read since the last yield to yield again. */
  #isDue(): boolean {
    if (this.#at - this.#yieldedAt < bytesPerSlice) return false
    this.#yieldedAt = this.#at
    return true
  }

  #put(byte: number): void {
    this.#memory[this.#used++] = byte
  }
}

/** Finds a field by a path that does not pass through a list. */
export class ScalarFinder {
  readonly #keys: readonly Buffer[]

  constructor(path: readonly string[]) {
    this.#keys = path.map(jsonKey)
  }

  /** Returns the string, number or boolean at the path, or undefined if the object has no such value. */
  find(json: Buffer): string | number | boolean | undefined {
    let at = 0
    for (const key of this.#keys) {
      if (json[at] !== openBrace) return undefined
      at = memberValueAt(json, at + 1, key)
      if (at < 0) return undefined
    }
    const first = json[at]
    if (first === openBrace || first === openBracket || first === 0x6e /* null */) return undefined
    return JSON.parse(json.toString('utf8', at, endOfValue(json, at)))
  }
}

/** Finds a key among the members after offset `at`. Returns the offset of the value, or -1 if the key is missing. */
function memberValueAt(json: Buffer, at: number, key: Buffer): number {
  let i = at
  while (json[i] === quote) {
    if (isKeyAt(json, i, key)) return i + key.length + 1
    i = endOfValue(json, endOfString(json, i) + 2)
    if (json[i] === comma) i++
  }
  return -1
}

/**
 * Whether a key is at the given position. The bytes can be compared directly, because the server writes every key in
 * the same form as `JSON.stringify` does.
 */
function isKeyAt(json: Buffer, start: number, key: Buffer): boolean {
  for (let i = 0; i < key.length; i++) if (json[start + i] !== key[i]) return false
  return true
}

/** Returns the offset of the quote that ends a string. */
function endOfString(json: Buffer, start: number): number {
  let i = start + 1
  while (i < json.length && json[i] !== quote) i += json[i] === backslash ? 2 : 1
  return i
}

/** Returns the offset after the value that starts at the given position. */
function endOfValue(json: Buffer, start: number): number {
  const first = json[start]
  if (first === quote) return endOfString(json, start) + 1
  if (first === openBrace || first === openBracket) return endOfRest(json, start + 1) + 1
  let i = start
  while (i < json.length && json[i] !== comma && json[i] !== closeBrace && json[i] !== closeBracket) i++
  return i
}

/** Returns the offset of the bracket that ends an object or list. */
function endOfRest(json: Buffer, start: number): number {
  let depth = 0
  let i = start
  for (; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) i = endOfString(json, i)
    else if (byte === openBrace || byte === openBracket) depth++
    else if ((byte === closeBrace || byte === closeBracket) && depth-- === 0) return i
  }
  return i
}
