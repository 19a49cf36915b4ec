/** /livez, /readyz and /healthz: whether the server is alive, and whether it should be sent requests. */
import type { PathHandler } from './dispatch.ts'
import { sendText } from './responses.ts'

/** A check that passes, or says what is wrong. */
export interface HealthCheck {
  readonly name: string
  readonly check: () => string | undefined
}

export function healthPaths(live: readonly HealthCheck[], ready: readonly HealthCheck[]): PathHandler {
  return (exchange, info) => {
    if (info.verb !== 'get' || !['/livez', '/readyz', '/healthz'].includes(info.path)) return undefined
    const failed = (info.path === '/livez' ? live : ready)
      .map(({ name, check }) => [name, check()] as const)
      .filter(([, fault]) => fault !== undefined)
    if (failed.length === 0) sendText(exchange, 200, 'ok')
    else
      sendText(
        exchange,
        info.path === '/readyz' ? 503 : 500,
        failed.map(([name, fault]) => `[-]${name} failed: ${fault}\n`).join(''),
      )
    return Promise.resolve()
  }
}
