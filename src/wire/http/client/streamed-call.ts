/**
 * Sends requests whose responses are streamed or switch the protocol. The timeout applies only until the head of the
 * response has arrived. After that, the caller ends the call with its signal.
 */
import type { AnswerHead } from './answer-parser.ts'
import { AnswerStream } from './answer-stream.ts'
import { CallError } from './call-error.ts'
import { type AnswerReceiver, type CallParts, HttpCall, type SwitchedConnection } from './http-call.ts'

/** A response whose head has arrived. Its body can be read as a stream. */
export interface StreamedAnswer extends AnswerHead {
  readonly body: AnswerStream
  /** The connection, if the response has switched its protocol. Undefined otherwise. */
  readonly switched: SwitchedConnection | undefined
}

/** Number of framing bytes per chunk that do not count toward the framing limit. Go uses the same number. */
const freeChunkFraming = 16

/**
 * Sends a request. Resolves with the head of the response. Throws CallError if the call fails before the head arrives.
 */
export function streamCall(parts: CallParts): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    const receiver = new AnswerInParts({ resolve, reject }, () => call.abandon())
    const call = new HttpCall({ ...parts, rules: { freeChunkFraming, ...parts.rules } }, receiver)
    call.start()
  })
}

interface Outcome {
  resolve(answer: StreamedAnswer): void
  reject(error: unknown): void
}

class AnswerInParts implements AnswerReceiver {
  readonly timeLimit = 'head'
  readonly #outcome: Outcome
  readonly #body: AnswerStream

  constructor(outcome: Outcome, onAbandoned: () => void) {
    this.#outcome = outcome
    this.#body = new AnswerStream(onAbandoned)
  }

  mayRead(): boolean {
    return this.#body.mayGrow
  }

  wait(onRoom: () => void): void {
    this.#body.wait(onRoom)
  }

  onHead(head: AnswerHead): void {
    if (head.status === 101) throw new CallError('answer', 'unexpected protocol switch')
    this.#deliver(head, undefined)
  }

  onBody(bytes: Buffer): void {
    this.#body.add(bytes)
  }

  onComplete(): void {
    this.#body.complete()
  }

  onSwitched(head: AnswerHead, connection: SwitchedConnection): void {
    this.#body.complete()
    this.#deliver(head, connection)
  }

  onFailure(error: unknown): void {
    this.#outcome.reject(error)
    this.#body.destroy(error as Error)
  }

  #deliver({ status, headers, rawHeaders }: AnswerHead, switched: SwitchedConnection | undefined): void {
    this.#outcome.resolve({ status, headers, rawHeaders, body: this.#body, switched })
  }
}
