/**
 * The request pipeline: a list of steps, executed in order. Most steps are synchronous, so the pipeline awaits only the
 * steps that return a promise.
 */
import type { Exchange } from './request/exchange.ts'

/** A pipeline step. It does its work and returns, sends the response, or throws. */
export type Step = (exchange: Exchange) => void | Promise<void>

export interface PipelineEnds {
  /** Turns an error thrown by a step into a response. */
  readonly answerError: (exchange: Exchange, error: unknown) => Promise<void>
  /** Called after every request, regardless of its outcome. */
  readonly onHandled: (exchange: Exchange) => void
}

/** Runs the steps in order until one sends a response, skipping undefined steps. Turns thrown errors into responses. */
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
