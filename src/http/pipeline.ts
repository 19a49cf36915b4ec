/**
 * The way of every request: an array of named steps; the order of the lines is the order of execution.
 * A step does its part and calls the next one, or answers, or throws an ApiError.
 */
import type { Exchange } from './exchange.ts'

export type Next = () => Promise<void>
export type Step = (exchange: Exchange, next: Next) => Promise<void>

export function pipeline(steps: readonly Step[]): (exchange: Exchange) => Promise<void> {
  return steps.reduceRight<(exchange: Exchange) => Promise<void>>(
    (rest, step) => (exchange) => step(exchange, () => rest(exchange)),
    async () => {
      throw new Error('the last step of the pipeline must answer')
    },
  )
}
