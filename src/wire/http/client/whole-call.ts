/** Calls whose responses are small and returned as a whole. */
import { AnswerBuffer, type HeadFault } from './answer-buffer.ts'
import type { AnswerRoom } from './answer-memory.ts'
import type { AnswerHead } from './answer-parser.ts'
import { type AnswerReceiver, type CallParts, HttpCall } from './http-call.ts'

/** A request, and limits for its response. */
export interface WholeCallParts extends Omit<CallParts, 'rules'> {
  /** Maximum size of the response body. */
  readonly maxBytes: number
  /**
   * Accounts for the memory of the response, to limit the total for all responses. Undefined if only the size of each
   * response is limited.
   */
  readonly room?: AnswerRoom
  /** Returns the reason to reject a response. By default, redirects, failures and compressed responses are rejected. */
  readonly faultOf?: HeadFault
}

/** Runs a call. Resolves when the response is complete. Throws CallError unless the response is acceptable. */
export function runCall(parts: WholeCallParts): Promise<AnswerBuffer> {
  return new Promise((resolve, reject) => {
    new HttpCall(parts, new WholeAnswer(parts, { resolve, reject })).start()
  })
}

interface Outcome {
  resolve(answer: AnswerBuffer): void
  reject(error: unknown): void
}

class WholeAnswer implements AnswerReceiver {
  readonly timeLimit = 'whole'
  readonly #answer: AnswerBuffer
  readonly #room: AnswerRoom | undefined
  readonly #outcome: Outcome

  constructor({ maxBytes, room, faultOf }: WholeCallParts, outcome: Outcome) {
    this.#answer = new AnswerBuffer(maxBytes, faultOf)
    this.#room = room
    this.#outcome = outcome
  }

  mayRead(): boolean {
    return this.#room?.mayGrow() ?? true
  }

  wait(onRoom: () => void): void {
    this.#room?.wait(onRoom)
  }

  onHead(head: AnswerHead): void {
    this.#answer.onHead(head)
  }

  onBody(bytes: Buffer): void {
    this.#answer.onBody(bytes)
  }

  onParsed(unreadBytes: number): void {
    this.#room?.resize(this.#answer.keptBytes + unreadBytes)
  }

  onComplete(): void {
    this.#room?.end()
    this.#outcome.resolve(this.#answer)
  }

  onFailure(error: unknown): void {
    this.#room?.end()
    this.#outcome.reject(error)
  }
}
