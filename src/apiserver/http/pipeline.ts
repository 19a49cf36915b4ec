/**
 * The request pipeline: a list of steps, executed in order. Most steps are synchronous, so the pipeline awaits only the
 * steps that return a promise.
 */
import type { Exchange } from './request/exchange.ts'

/** A pipeline step. A step returns to continue the request, sends the response, or throws an error. */
export type Step = (exchange: Exchange) => void | Promise<void>

export interface PipelineEnds {
  /** Converts an error that a step threw into a response. */
  readonly answerError: (exchange: Exchange, error: unknown) => Promise<void>
  /** Called after every request, regardless of its outcome. */
  readonly onHandled: (exchange: Exchange) => void
}

/**
 * Runs the steps in order until a step sends a response. Skips undefined steps. Converts thrown errors into responses.
 */
export function pipeline(
  all: readonly (Step | undefined)[],
  { answerError, onHandled }: PipelineEnds,
): (exchange: Exchange) => Promise<void> {
  const steps = all.filter((step) => step !== undefined)
  return async (exchange) => {
    try {
      for (const step of steps) {
        const pending = step(exchange)
        if (pending !== undefined) await pending
        if (exchange.answered) break
      }
    } catch (error) {
      await answerError(exchange, error)
    } finally {
      exchange.finish()
      onHandled(exchange)
    }
  }
}
