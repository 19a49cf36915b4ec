/** A transport that delays selected requests until the test releases them, to simulate a slow network or server. */
import { orAborted } from '../../src/base/concurrency/abort.ts'
import type { Transport, TransportRequest } from '../../src/client/requests/transport.ts'

type Matches = (request: TransportRequest) => boolean

export interface Hold {
  /** Releases the waiting requests and all later requests. */
  release(): void
  /** Number of matching requests so far. */
  readonly count: number
}

export interface RequestHolder {
  readonly through: (send: Transport) => Transport
  /** Delays all matching requests from now on. */
  hold(matches: Matches): Hold
  /**
   * Delays the responses of matching requests from now on. The server has responded, but the client does not know this
   * yet.
   */
  holdAnswers(matches: Matches): Hold
}

interface Held {
  readonly what: 'request' | 'answer'
  readonly matches: Matches
  readonly released: Promise<void>
  count: number
}

export function holdRequests(): RequestHolder {
  const holds: Held[] = []
  const pass = async (what: Held['what'], request: TransportRequest) => {
    for (const hold of holds.filter((each) => each.what === what && each.matches(request))) {
      hold.count++
      await orAborted(hold.released, request.signal)
    }
  }
  const through =
    (send: Transport): Transport =>
    async (request) => {
      await pass('request', request)
      const answer = await send(request)
      await pass('answer', request)
      return answer
    }
  const add = (what: Held['what'], matches: Matches): Hold => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const held: Held = { what, matches, released: promise, count: 0 }
    holds.push(held)
    return {
      release: resolve,
      get count() {
        return held.count
      },
    }
  }
  return {
    through,
    hold: (matches) => add('request', matches),
    holdAnswers: (matches) => add('answer', matches),
  }
}
