/**
 * Continue tokens: where a chunked list goes on, at which revision. Signed with a key that is kept in the store, so
 * that every replica and every restart can read them and nobody else can make one; bound to the list they belong to.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../../../api/model/api-error.ts'

export interface ListPosition {
  /** `newestState` where it goes on with what there is by then. */
  readonly revision: number
  /** The key of the last object sent. */
  readonly after: string
}

/** In place of a revision: no state has this one. */
export const newestState = 0

const maxTokenLength = 4096

/** Makes and reads the tokens by which a list is continued. */
export class ContinueTokens {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** `scope` says which list this is: the same list must ask for the next page. */
  write(position: ListPosition, scope: string): string {
    const payload = Buffer.from(JSON.stringify({ v: 1, r: position.revision, k: position.after }))
    return `${payload.toString('base64url')}.${this.#sign(payload, scope).toString('base64url')}`
  }

  read(token: string, scope: string): ListPosition {
    const [payload, signature] = token.length > maxTokenLength ? [] : token.split('.').map(readExactly)
    const expected = this.#sign(payload ?? Buffer.alloc(0), scope)
    const isOurs = signature?.length === expected.length && timingSafeEqual(signature, expected)
    if (payload === undefined || !isOurs) {
      throw badRequest(
        'invalid continue token: it must be the one that the server gave, sent with the same list request',
      )
    }
    const { r, k } = JSON.parse(payload.toString('utf8'))
    return { revision: r, after: k }
  }

  #sign(payload: Buffer, scope: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).update('\0').update(scope).digest().subarray(0, 16)
  }
}

/** Decoders of base64 skip characters that do not belong to it; a token has exactly one spelling. */
function readExactly(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
