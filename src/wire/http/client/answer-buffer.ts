/**
 * Collects a whole response in memory, up to a maximum size. Rejects a response as soon as its status or headers show
 * that it is unacceptable.
 */
import type { AnswerHead, AnswerSink } from './answer-parser.ts'
import { CallError } from './call-error.ts'

/**
 * Maximum number of bytes by which the buffer grows in one step. The limit keeps the buffer from being much larger than
 * the body.
 */
const maxGrowthBytes = 1024 * 1024
const nothing: Buffer = Buffer.alloc(0)

/**
 * Returns why a response must be rejected, based on its status and headers. Returns undefined if the response is
 * acceptable.
 */
export type HeadFault = (head: AnswerHead) => string | undefined

/** Stores a response and its body in memory. */
export class AnswerBuffer implements AnswerSink {
  status = 0
  headers: ReadonlyMap<string, string> = new Map()
  readonly #maxBytes: number
  readonly #faultOf: HeadFault
  #body = nothing
  #size = 0

  constructor(maxBytes: number, faultOf: HeadFault = unusableBecause) {
    this.#maxBytes = maxBytes
    this.#faultOf = faultOf
  }

  get body(): Buffer {
    return this.#body.subarray(0, this.#size)
  }

  /** Number of bytes of memory that the body occupies so far. */
  get keptBytes(): number {
    return this.#body.length
  }

  onHead(head: AnswerHead): void {
    this.status = head.status
    this.headers = head.headers
    const fault = this.#faultOf(head)
    if (fault !== undefined) throw new CallError('answer', fault)
  }

  onBody(bytes: Buffer): void {
    const size = this.#size + bytes.length
    if (size > this.#maxBytes) throw new CallError('answer', `the response has more than ${this.#maxBytes} bytes`)
    if (size > this.#body.length) {
      const growth = Math.min(this.#body.length, maxGrowthBytes)
      const larger = Buffer.allocUnsafe(Math.max(size, Math.min(this.#body.length + growth, this.#maxBytes)))
      this.#body.copy(larger, 0, 0, this.#size)
      this.#body = larger
    }
    bytes.copy(this.#body, this.#size)
    this.#size = size
  }
}

function unusableBecause({ status, headers }: AnswerHead): string | undefined {
  if (status >= 300 && status < 400) return `the response is a redirect (${status}), which is not followed`
  if (status < 200 || status > 206) return `the response has status ${status}`
  const encoding = headers.get('content-encoding') ?? 'identity'
  return encoding === 'identity' ? undefined : 'the response is compressed, which was not requested'
}
