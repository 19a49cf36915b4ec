/**
 * Parses a long JSON document in pieces, because the native parser cannot be interrupted and needs 15 ms for a megabyte
 * of small objects. The document is cut at commas. The native parser parses, and thereby validates, the members between
 * two cuts. Objects and arrays that contain a cut are assembled from their pieces.
 */
import { type Json, type JsonObject, setKey } from '../json/json.ts'
import { parseNative } from '../json/native-json.ts'
import { endOfString } from './json-scan.ts'

/** Minimum number of characters between two cuts. */
const pieceLength = 32 * 1024

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** An open object or array in the document. */
interface Level {
  isArray: boolean
  /** Offset of the first character after the opening bracket. */
  content: number
  /** Offset of the first member that has not been parsed, or the offset after an inner value that has been cut. */
  unparsed: number
  /** Offset at which the current member starts: after the last comma or the opening bracket. */
  member: number
  /** Members that have already been parsed. Undefined until the level contains a cut. */
  value: Json[] | JsonObject | undefined
  /** Whether the member at the current position ends with an inner value that has been cut. */
  endsWithCut: boolean
}

/** Parses a document, and yields after each piece. Throws a SyntaxError with the position of the error. */
export function* parsePiecewise(text: string): Generator<void, Json> {
  const parser = new PiecewiseParser(text)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) i = endOfString(text, i)
    else if (unit === openBrace || unit === openBracket) parser.open(i)
    else if (unit === closeBrace || unit === closeBracket) parser.close(i)
    else if (unit === comma && parser.comma(i)) yield
  }
  return parser.end()
}

class PiecewiseParser {
  readonly #text: string
  /** A stack of the open objects and arrays. Closed entries remain above the top of the stack for reuse. */
  readonly #levels: Level[] = []
  #depth = 0
  #lastCut = 0
  /** Offset of the first character that has not been parsed yet. */
  #start = 0
  #result: Json | undefined

  constructor(text: string) {
    this.#text = text
  }

  open(at: number): void {
    const depth = this.#depth++
    if (depth === this.#levels.length) this.#levels.push(emptyLevel())
    const level = this.#levels[depth]!
    level.isArray = this.#text.charCodeAt(at) === openBracket
    level.content = at + 1
    level.unparsed = at + 1
    level.member = at + 1
    level.value = undefined
    level.endsWithCut = false
  }

  /** Returns whether the document was cut at the comma. */
  comma(at: number): boolean {
    if (this.#depth === 0) return false
    const level = this.#levels[this.#depth - 1]!
    if (level.endsWithCut) this.#endMember(level, at)
    level.member = at + 1
    if (at - this.#lastCut < pieceLength) return false
    this.#cut(level, at)
    return true
  }

  close(at: number): void {
    if (this.#depth === 0) return
    const level = this.#levels[--this.#depth]!
    if (level.value === undefined) return
    if (level.endsWithCut) this.#endMember(level, at)
    else this.#addMembers(level, at)
    if (this.#text[at] !== (level.isArray ? ']' : '}')) throw unexpected(this.#text, at)
    const outer = this.#levels[this.#depth - 1]
    if (outer === undefined) this.#start = at + 1
    else {
      outer.unparsed = at + 1
      outer.endsWithCut = true
    }
  }

  end(): Json {
    if (this.#result === undefined) return parseNative(this.#text)
    if (this.#depth > 0) throw new SyntaxError('Unexpected end of JSON input')
    assertBlank(this.#text, this.#start, this.#text.length)
    return this.#result
  }

  /** Cuts the document at a comma of the innermost level, and parses the members before the comma. */
  #cut(innermost: Level, comma: number): void {
    let outer: Level | undefined
    for (const level of this.#levels.slice(0, this.#depth)) {
      if (level.value === undefined) this.#beginValue(level, outer)
      outer = level
    }
    if (innermost.unparsed <= comma) this.#addMembers(innermost, comma)
    innermost.unparsed = comma + 1
    this.#lastCut = comma
  }

  /** Starts building the value of an object or array that contains a cut, and adds it to its parent. */
  #beginValue(level: Level, outer: Level | undefined): void {
    level.value = level.isArray ? [] : {}
    const opening = level.content - 1
    if (outer === undefined) {
      if (this.#result !== undefined) throw unexpected(this.#text, opening)
      assertBlank(this.#text, this.#start, opening)
      this.#result = level.value
      return
    }
    if (outer.endsWithCut) throw unexpected(this.#text, opening)
    if (outer.member > outer.unparsed) this.#addMembers(outer, outer.member - 1)
    // In an object, the text before the bracket is the key of the value. In an array, it is blank. The text is
    // validated by parsing it with a null value appended.
    const key = `${this.#text.slice(outer.member, opening)}null`
    const [name] = Object.keys(this.#parse(outer, key, outer.member))
    if (Array.isArray(outer.value)) outer.value.push(level.value)
    else setKey(outer.value!, name!, level.value)
  }

  /** Completes a member that ends with a cut value. Only whitespace may follow the value. */
  #endMember(level: Level, end: number): void {
    assertBlank(this.#text, level.unparsed, end)
    level.endsWithCut = false
    level.unparsed = end + 1
  }

  /** Parses the members between the first unparsed character and `end`, and adds them to the level. */
  #addMembers(level: Level, end: number): void {
    const { value, unparsed } = level
    const members = this.#parse(level, this.#text.slice(unparsed, end), unparsed)
    if (Array.isArray(value)) for (const item of members as Json[]) value.push(item)
    else for (const key of Object.keys(members)) setKey(value!, key, (members as JsonObject)[key]!)
  }

  /** Parses a sequence of members, which must not be empty. `start` is its offset in the document. */
  #parse({ isArray }: Level, members: string, start: number): Json[] | JsonObject {
    if (members.trim() === '') throw unexpected(this.#text, start + members.length)
    try {
      return parseNative(isArray ? `[${members}]` : `{${members}}`) as Json[] | JsonObject
    } catch (error) {
      throw new SyntaxError(withPosition((error as Error).message, start - 1), { cause: error })
    }
  }
}

function emptyLevel(): Level {
  return { isArray: false, content: 0, unparsed: 0, member: 0, value: undefined, endsWithCut: false }
}

function assertBlank(text: string, start: number, end: number): void {
  for (let i = start; i < end; i++) if (!' \t\n\r'.includes(text[i]!)) throw unexpected(text, i)
}

function unexpected(text: string, at: number): SyntaxError {
  return new SyntaxError(`Unexpected ${JSON.stringify(text[at])} in JSON at position ${at}`)
}

/** Adds an offset to the position in an error message from the native parser. */
function withPosition(message: string, offset: number): string {
  return message.replace(
    / at position (\d+)(?: \(line \d+ column \d+\))?/,
    (_, at) => ` at position ${offset + Number(at)}`,
  )
}
