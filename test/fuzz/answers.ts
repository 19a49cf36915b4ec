/** Common parts of the server fuzz tests: counts by status code, concurrent requests, and the format of errors. */
import type { Answer } from '../support/http-client.ts'

const maxReported = 10

export class Counts {
  readonly #byCode = new Map<number, number>()
  #tried = 0
  #wrong = 0
  /** The first few faults that the test has found. */
  readonly faults: string[] = []

  add(code: number): void {
    this.#tried++
    this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + 1)
  }

  wrong(fault: string): void {
    this.#wrong++
    if (this.faults.length < maxReported) this.faults.push(fault)
  }

  reportedCounts(): { readonly [name: string]: number } {
    const codes = [...this.#byCode].sort(([a], [b]) => a - b).map(([code, count]) => [`answered ${code}`, count])
    return { tried: this.#tried, ...Object.fromEntries(codes), wrong: this.#wrong }
  }
}

/**
 * Runs `total` iterations in `atOnce` concurrent lanes. The next iteration runs in whichever lane becomes free first.
 */
export async function everyOne(total: number, atOnce: number, run: (lane: number) => Promise<void>): Promise<void> {
  let begun = 0
  const lane = async (number: number) => {
    while (begun++ < total) await run(number)
  }
  await Promise.all(Array.from({ length: atOnce }, (_, number) => lane(number)))
}

/** The Status reasons that are valid for each status code. */
const reasons: { readonly [code: number]: readonly string[] } = {
  400: ['BadRequest'],
  403: ['Forbidden'],
  404: ['NotFound'],
  409: ['Conflict', 'AlreadyExists'],
  410: ['Expired', 'Gone'],
  413: ['RequestEntityTooLarge'],
  415: ['UnsupportedMediaType'],
  422: ['Invalid'],
  504: ['Timeout'],
}

/**
 * Returns a description of what is wrong with an error response, or undefined if the response is correct. The response
 * must be a Status with its code, a reason and a message.
 */
export function faultOfStatus({ status, text, headers }: Answer): string | undefined {
  if (!headers['content-type']?.startsWith('application/json')) return `a refusal as ${headers['content-type']}`
  const body = JSON.parse(text)
  const right =
    body.kind === 'Status' &&
    body.apiVersion === 'v1' &&
    body.status === 'Failure' &&
    body.code === status &&
    typeof body.metadata === 'object' &&
    typeof body.message === 'string' &&
    body.message !== '' &&
    reasons[status]?.includes(body.reason)
  return right ? undefined : `not the Status of a ${status}: ${text.slice(0, 300)}`
}
