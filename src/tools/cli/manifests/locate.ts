/**
 * Locates fields in the text of an object, for error messages: `spec.ports[0].name` becomes a line and a column. Only
 * used after an error, so it parses the text again.
 */
import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml'
import type { Origin } from './manifest.ts'

export interface Place {
  /** Line number, starting at 1. */
  readonly line: number
  readonly column: number
}

/** Returns the position of the field or its closest parent. Undefined if there is none. */
export function locate(origin: Origin, field: string): Place | undefined {
  const walk = new Walk(origin.text)
  const offset = walk.find(origin.document, [...origin.path, ...stepsOf(field)])
  if (offset === undefined) return undefined
  const before = origin.text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/** Splits `spec.ports[0].name` into `spec`, `ports`, 0, `name`. In `data[a.b]`, the brackets contain the key. */
function stepsOf(field: string): (string | number)[] {
  const steps = field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)
  return [...steps].map(([, key, name]) => (key === undefined ? name! : /^\d+$/.test(key) ? Number(key) : key))
}

class Walk {
  readonly #text: string
  readonly #events: readonly Event[]
  #next = 0

  constructor(text: string) {
    this.#text = text
    this.#events = parseEvents(text, {})
  }

  find(document: number, steps: readonly (string | number)[]): number | undefined {
    for (let documentIndex = -1; this.#next < this.#events.length; this.#next++)
      if (this.#events[this.#next]!.type === EVENT_ID.DOCUMENT && ++documentIndex === document) break
    this.#next++
    return this.#inNode(steps, undefined)
  }

  /** `here` is the position of this node's key. */
  #inNode([step, ...rest]: readonly (string | number)[], here: number | undefined): number | undefined {
    const event = this.#events[this.#next]
    if (event === undefined || step === undefined) return here ?? startOf(event)
    if (event.type === EVENT_ID.MAPPING) return this.#inMap(String(step), rest, here ?? event.start)
    if (event.type === EVENT_ID.SEQUENCE) return this.#inList(Number(step), rest, here ?? event.start)
    return here ?? startOf(event)
  }

  #inMap(key: string, rest: readonly (string | number)[], here: number): number {
    this.#next++
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const name = this.#events[this.#next]!
      this.#skip()
      if (name.type === EVENT_ID.SCALAR && getScalarValue(this.#text, name) === key)
        return this.#inNode(rest, name.valueStart) ?? here
      this.#skip()
    }
    return here
  }

  #inList(index: number, rest: readonly (string | number)[], here: number): number {
    this.#next++
    for (let i = 0; this.#events[this.#next]!.type !== EVENT_ID.POP; i++) {
      if (i === index) return this.#inNode(rest, startOf(this.#events[this.#next])) ?? here
      this.#skip()
    }
    return here
  }

  /** Skips one node with its content. */
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
