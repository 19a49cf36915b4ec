/**
 * The way of every request: an array of named steps; the order of the lines is the order of execution. A step does its
 * part, answers, or throws. Most do their part at once, so only those that give a promise are waited for.
 */
import type { Exchange } from './request/exchange.ts'

/** One step: it does its part, answers, or throws. */
export type Step = (exchange: Exchange) => void | Promise<void>

export interface PipelineEnds {
  /** Turns whatever a step throws into an answer. */
  readonly answerError: (exchange: Exchange, error: unknown) => Promise<void>
  /** Called for every request that has been handled, however that ended. */
  readonly onHandled: (exchange: Exchange) => void
}

/** Runs the steps in order, up to the one that answers. Skips those that are undefined. What a step throws becomes the answer. */
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
