/** A transport that holds back chosen requests until the test releases them, as a slow network or server would. */
import { orAborted } from '../../src/base/abort.ts'
import type { Transport, TransportRequest } from '../../src/client/transport.ts'

type Matches = (request: TransportRequest) => boolean

export interface Hold {
  /** Lets the requests pass, those that wait and all later ones. */
  release(): void
  /** How many requests have matched so far. */
  readonly count: number
}

export interface RequestHolder {
  readonly through: (send: Transport) => Transport
  /** Holds requests back from now on. */
  hold(matches: Matches): Hold
}

export function holdRequests(): RequestHolder {
  const holds: { readonly matches: Matches; readonly released: Promise<void>; count: number }[] = []
  const through =
    (send: Transport): Transport =>
    async (request) => {
      for (const hold of holds.filter(({ matches }) => matches(request))) {
        hold.count++
        await orAborted(hold.released, request.signal)
      }
      return await send(request)
    }
  return {
    through,
    hold: (matches) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const hold = { matches, released: promise, count: 0 }
      holds.push(hold)
      return {
        release: resolve,
        get count() {
          return hold.count
        },
      }
    },
  }
}
