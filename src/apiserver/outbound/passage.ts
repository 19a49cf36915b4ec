/** A way on to another server for one request of a client: where it leads, and how what goes wrong there is reported. */
import type { ApiError } from '../../api/model/api-error.ts'
import type { CallError } from './call-error.ts'
import type { Destination } from './connections.ts'
import type { HttpsRelay } from './https-relay.ts'

/** In place of an answer: the request is to be passed on, and what comes back is the answer. */
export class PassOn {
  readonly passage: Passage

  constructor(passage: Passage) {
    this.passage = passage
  }
}

/** Where a request is passed on to, and how. */
export interface Passage {
  /** What is at the other end. Requests to it are counted: too many of them are refused. */
  readonly to: string
  readonly relay: HttpsRelay
  /** Throws CallError where there is nowhere to connect to. */
  readonly destination: () => Destination | Promise<Destination>
  /** With the query. */
  readonly path: string
  /** Whether the other side is told who the user is. */
  readonly tellsUser: boolean
  /** Whether only a request that switches protocols makes sense; false by default. */
  readonly mustSwitch?: boolean
  /** How long the beginning of the answer may take; as long as the request itself by default, a minute at most. */
  readonly timeoutMs?: number
  readonly errors: PassageErrors
  /** Where a redirect of the other side leads the client; undefined where it is not passed on. By default none is. */
  readonly redirect?: (location: string) => string | undefined
  /** Where a link in a page of the other side leads the client instead; by default pages are passed on as they are. */
  readonly link?: (link: string) => string | undefined
  /** Makes an error of an answer that is neither a success nor a switch; by default it is passed on as it is. */
  readonly failure?: (status: number, text: string) => ApiError
}

/** What the client is told where the other side does not answer as it should. */
export interface PassageErrors {
  /** There was no answer. */
  readonly noAnswer: (error: CallError) => ApiError
  readonly busy: () => ApiError
  /** The answer cannot be passed on. */
  readonly unusable: (why: string) => ApiError
}
