/**
 * Encodes the position and revision of a paginated list in a continue token. The signing key is in the store. Every
 * server can therefore verify every token, even after a restart, and clients cannot forge tokens. Each token is valid
 * only for the list for which it was issued.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../../../api/model/api-error.ts'

export interface ListPosition {
  /** The revision of the list, or `newestState` if the list continues with the latest state. */
  readonly revision: number
  /** The key of the last object that the client has received. */
  readonly after: string
  /** The position in a sorted list. Undefined if the list is in key order. */
  readonly sorted?: SortedPosition | undefined
}

/** A position in a sorted list. */
export interface SortedPosition {
  /** The sort order as written in the query. */
  readonly order: string
  /** The sort values of the last object that the client has received. A missing value is null. */
  readonly values: readonly (SortValue | null)[]
}

/** A value by which lists can be sorted. */
export type SortValue = string | number | boolean

/** The revision that represents the latest state in a token. No state has revision 0. */
export const newestState = 0

const maxTokenLength = 4096

/** Creates and verifies continue tokens. */
export class ContinueTokens {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Creates a token. `scope` identifies the list, and the token is valid only for requests with the same scope. */
  write(position: ListPosition, scope: string): string {
    const { revision, after, sorted } = position
    const order = sorted && { o: sorted.order, s: sorted.values }
    const payload = Buffer.from(JSON.stringify({ v: 1, r: revision, k: after, ...order }))
    return `${payload.toString('base64url')}.${this.#sign(payload, scope).toString('base64url')}`
  }

  read(token: string, scope: string): ListPosition {
    const [payload, signature] = token.length > maxTokenLength ? [] : token.split('.').map(readExactly)
    const expected = this.#sign(payload ?? Buffer.alloc(0), scope)
    const isOurs = signature?.length === expected.length && timingSafeEqual(signature, expected)
    if (payload === undefined || !isOurs) {
      throw badRequest('invalid continue token: repeat the same list request with the token that the server returned')
    }
    const { r, k, o, s } = JSON.parse(payload.toString('utf8'))
    return { revision: r, after: k, ...(o === undefined ? {} : { sorted: { order: o, values: s } }) }
  }

  #sign(payload: Buffer, scope: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).update('\0').update(scope).digest().subarray(0, 16)
  }
}

/** Decodes base64. Rejects text that is not in canonical form, because Node's decoder skips invalid characters. */
function readExactly(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
