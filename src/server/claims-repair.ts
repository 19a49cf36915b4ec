/** Looks at start and every few minutes that what objects hold is written down, and nothing else: see registry/repair-claims.ts. */
import type { Catalogue } from '../registry/catalogue.ts'
import { repairClaims } from '../registry/repair-claims.ts'
import { errorFields, type Log } from '../telemetry/log.ts'

const everyMs = 5 * 60_000

/** Gives what ends it. The first look is under way when this returns; nobody has to wait for it. */
export function keepClaims(catalogue: Catalogue, log: Log): () => Promise<void> {
  let ended = false
  const look = async () => {
    try {
      const { freed, taken, shared } = await repairClaims(catalogue)
      if (freed.length > 0) log.warn('freed what no object holds', listed(freed))
      if (taken.length > 0) log.warn('wrote down what objects hold', listed(taken))
      if (shared.length > 0) log.error('several objects hold the same; delete all but one', listed(shared))
    } catch (error) {
      if (!ended) log.error('what objects hold could not be looked through; it is tried again', errorFields(error))
    }
  }
  let looking = look()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, everyMs).unref()
  return async () => {
    ended = true
    clearInterval(timer)
    await looking
  }
}

function listed(keys: readonly string[]) {
  return { count: keys.length, keys: keys.slice(0, 10).join(' ') }
}
