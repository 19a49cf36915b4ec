/** Locates values in a YAML file for error messages. The file is parsed again, but only after an error. */
import { EVENT_ID, type Event, getScalarValue, parseEvents, YAMLException } from 'js-yaml'
import { isError } from '../../base/text/errors.ts'

/** Line and column in a text. */
export interface TextPosition {
  /** Line number. The first line is 1. */
  readonly line: number
  readonly column: number
}

/** Path to a value: keys and list indexes from the root. */
export type YamlPath = readonly (string | number)[]

/**
 * Returns the position of the value at a path, or of its closest parent that exists. `document` is the index of a
 * document in the text. Returns undefined if the document is empty or missing. The text must be valid YAML. If a key
 * occurs twice, its last value counts, as in the parser.
 */
export function locateYamlValue(text: string, path: YamlPath, document = 0): TextPosition | undefined {
  const offset = new Walk(text).find(document, path)
  if (offset === undefined) return undefined
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/** Returns the position of the syntax error that caused an error of the YAML parser, or undefined if there is none. */
export function yamlErrorPosition(error: unknown): TextPosition | undefined {
  const { cause } = isError(error) ? error : {}
  const mark = cause instanceof YAMLException ? cause.mark : undefined
  return mark && { line: mark.line + 1, column: mark.column + 1 }
}

class Walk {
  readonly #text: string
  readonly #events: readonly Event[]
  #next = 0

  constructor(text: string) {
    this.#text = text
    this.#events = parseEvents(text, {})
  }

  find(document: number, steps: YamlPath): number | undefined {
    for (let documentIndex = -1; this.#next < this.#events.length; this.#next++)
      if (this.#events[this.#next]!.type === EVENT_ID.DOCUMENT && ++documentIndex === document) break
    this.#next++
    return this.#inNode(steps, undefined)
  }

  /**
   * Finds a path within a node. `here` is the offset of the node's key, which is reported if the path ends at this
   * node.
   */
  #inNode([step, ...rest]: YamlPath, here: number | undefined): number | undefined {
    const event = this.#events[this.#next]
    if (event === undefined || step === undefined) return here ?? startOf(event)
    if (event.type === EVENT_ID.MAPPING) return this.#inMap(String(step), rest, here ?? event.start)
    if (event.type === EVENT_ID.SEQUENCE) return this.#inList(Number(step), rest, here ?? event.start)
    return here ?? startOf(event)
  }

  #inMap(key: string, rest: YamlPath, here: number): number {
    this.#next++
    let last: { readonly offset: number; readonly value: number } | undefined
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const name = this.#events[this.#next]!
      this.#skip()
      if (name.type === EVENT_ID.SCALAR && getScalarValue(this.#text, name) === key)
        last = { offset: name.valueStart, value: this.#next }
      this.#skip()
    }
    if (last === undefined) return here
    this.#next = last.value
    return this.#inNode(rest, last.offset) ?? here
  }

  #inList(index: number, rest: YamlPath, here: number): number {
    this.#next++
    for (let i = 0; this.#events[this.#next]!.type !== EVENT_ID.POP; i++) {
      if (i === index) return this.#inNode(rest, startOf(this.#events[this.#next])) ?? here
      this.#skip()
    }
    return here
  }

  /** Skips one node and its content. */
  #skip(): void {
    let depth = 0
    do {
      const { type } = this.#events[this.#next++]!
      if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++
      else if (type === EVENT_ID.POP) depth--
    } while (depth > 0)
  }
}

function startOf(event: Event | undefined): number | undefined {
  if (event === undefined) return undefined
  if (event.type === EVENT_ID.SCALAR) return event.valueStart < 0 ? undefined : event.valueStart
  return event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE ? event.start : undefined
}
