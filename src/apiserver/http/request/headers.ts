/**
 * The request headers exactly as received. They are neither merged nor dropped, because authentication reads them.
 * Names are case-insensitive. Sending a single-valued header twice results in a 400.
 */
import { ApiError, badRequest } from '../../../api/model/api-error.ts'

const maxHeaders = 200

export class RequestHeaders {
  readonly #raw: readonly string[]

  /**
   * Wraps the headers. `raw` contains alternating names and values, as in Node. A linear search is fast enough for the
   * few headers of a request.
   */
  constructor(raw: readonly string[]) {
    if (raw.length / 2 > maxHeaders)
      throw new ApiError(431, 'BadRequest', `the request has more than ${maxHeaders} headers`)
    this.#raw = raw
  }

  /** Returns a copy of the headers without those whose lower-case names match `isUnwanted`. */
  without(isUnwanted: (name: string) => boolean): RequestHeaders {
    return new RequestHeaders(this.#raw.filter((_, i, raw) => !isUnwanted(raw[i - (i % 2)]!.toLowerCase())))
  }

  /** Whether the request has a header whose name starts with the prefix, which must be in lower case. */
  hasPrefix(prefix: string): boolean {
    for (let i = 0; i < this.#raw.length; i += 2) {
      const name = this.#raw[i]!
      if (name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) return true
    }
    return false
  }

  /** Returns the headers whose names start with the prefix. Converts the names to lower case. */
  withPrefix(prefix: string): { name: string; value: string }[] {
    const matchingHeaders: { name: string; value: string }[] = []
    for (let i = 0; i < this.#raw.length; i += 2) {
      const name = this.#raw[i]!.toLowerCase()
      if (name.startsWith(prefix)) matchingHeaders.push({ name, value: this.#raw[i + 1]! })
    }
    return matchingHeaders
  }

  all(name: string): readonly string[] {
    const values: string[] = []
    for (let i = this.#find(name, 0); i >= 0; i = this.#find(name, i + 2)) values.push(this.#raw[i + 1]!)
    return values
  }

  /** Returns all values of a header, joined with commas, or '' if it is missing. */
  list(name: string): string {
    const i = this.#find(name, 0)
    if (i < 0) return ''
    return this.#find(name, i + 2) < 0 ? this.#raw[i + 1]! : this.all(name).join(',')
  }

  /** Returns the first value of a header, or undefined if it is missing. */
  first(name: string): string | undefined {
    const i = this.#find(name, 0)
    return i < 0 ? undefined : this.#raw[i + 1]
  }

  /** Returns the only value of a header, or undefined if it is missing. Throws 400 if it has several values. */
  one(name: string): string | undefined {
    const i = this.#find(name, 0)
    if (i < 0) return undefined
    if (this.#find(name, i + 2) >= 0) throw badRequest(`the header ${name} may be sent only once`)
    return this.#raw[i + 1]
  }

  /** Returns the position of the next header named `name` (in lower case), or -1 if there is none. */
  #find(name: string, from: number): number {
    for (let i = from; i < this.#raw.length; i += 2) {
      const sent = this.#raw[i]!
      if (sent.length === name.length && (sent === name || sent.toLowerCase() === name)) return i
    }
    return -1
  }
}
