/**
 * The request's headers as they came, none merged or dropped: identity is read from them.
 * Names are compared without case. A name that must occur once and occurs twice is a 400.
 */
import { ApiError, badRequest } from '../../../api/model/api-error.ts'

const maxHeaders = 200

export class RequestHeaders {
  readonly #raw: readonly string[]

  /** `raw` alternates names and values, as Node hands them out. They are few, so they are searched as they are. */
  constructor(raw: readonly string[]) {
    if (raw.length / 2 > maxHeaders)
      throw new ApiError(431, 'BadRequest', `the request has more than ${maxHeaders} headers`)
    this.#raw = raw
  }

  /** The same without the headers of these names; the names are given in lower case. */
  without(isUnwanted: (name: string) => boolean): RequestHeaders {
    return new RequestHeaders(this.#raw.filter((_, i, raw) => !isUnwanted(raw[i - (i % 2)]!.toLowerCase())))
  }

  /** Whether a header whose name begins so has been sent. */
  hasPrefix(prefix: string): boolean {
    for (let i = 0; i < this.#raw.length; i += 2) {
      const name = this.#raw[i]!
      if (name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) return true
    }
    return false
  }

  /** The headers whose names begin so, with their names in lower case. */
  withPrefix(prefix: string): { name: string; value: string }[] {
    const found: { name: string; value: string }[] = []
    for (let i = 0; i < this.#raw.length; i += 2) {
      const name = this.#raw[i]!.toLowerCase()
      if (name.startsWith(prefix)) found.push({ name, value: this.#raw[i + 1]! })
    }
    return found
  }

  all(name: string): readonly string[] {
    const values: string[] = []
    for (let i = this.#find(name, 0); i >= 0; i = this.#find(name, i + 2)) values.push(this.#raw[i + 1]!)
    return values
  }

  /** All values of a header as one list; '' when it is not there. */
  list(name: string): string {
    const i = this.#find(name, 0)
    if (i < 0) return ''
    return this.#find(name, i + 2) < 0 ? this.#raw[i + 1]! : this.all(name).join(',')
  }

  /** The first value of a header; undefined when it is not there. */
  first(name: string): string | undefined {
    const i = this.#find(name, 0)
    return i < 0 ? undefined : this.#raw[i + 1]
  }

  /** The only value of a header; undefined when it is not there. */
  one(name: string): string | undefined {
    const i = this.#find(name, 0)
    if (i < 0) return undefined
    if (this.#find(name, i + 2) >= 0) throw badRequest(`the header ${name} may be sent only once`)
    return this.#raw[i + 1]
  }

  /** Where the next header of this name, given in lower case, stands; -1 when there is none. */
  #find(name: string, from: number): number {
    for (let i = from; i < this.#raw.length; i += 2) {
      const sent = this.#raw[i]!
      if (sent.length === name.length && (sent === name || sent.toLowerCase() === name)) return i
    }
    return -1
  }
}
