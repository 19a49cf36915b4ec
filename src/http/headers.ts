/**
 * The request's headers as they came, none merged or dropped: identity is read from them.
 * Names are compared without case. A name that must occur once and occurs twice is a 400.
 */
import { ApiError, badRequest } from '../model/api-error.ts'

export const maxHeaders = 200

export class RequestHeaders {
  readonly #byName = new Map<string, string[]>()

  /** `raw` alternates names and values, as Node hands them out. */
  constructor(raw: readonly string[]) {
    if (raw.length / 2 > maxHeaders)
      throw new ApiError(431, 'BadRequest', `the request has more than ${maxHeaders} headers`)
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toLowerCase()
      const values = this.#byName.get(name)
      if (values === undefined) this.#byName.set(name, [raw[i + 1]!])
      else values.push(raw[i + 1]!)
    }
  }

  /** Whether a header whose name begins so has been sent with a value. */
  hasPrefix(prefix: string): boolean {
    for (const [name, values] of this.#byName)
      if (name.startsWith(prefix) && values.some((value) => value !== '')) return true
    return false
  }

  all(name: string): readonly string[] {
    return this.#byName.get(name) ?? []
  }

  /** The only value of a header; undefined when it is not there. */
  one(name: string): string | undefined {
    const values = this.all(name)
    if (values.length > 1) throw badRequest(`the header ${name} may be sent only once`)
    return values[0]
  }
}
