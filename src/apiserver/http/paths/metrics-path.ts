/** `/metrics`: the server's metrics in the Prometheus text format. */
import type { Exposing } from '../../../base/telemetry/exposition.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'

/** Serves `/metrics`. */
export function metricsPath(exposer: Exposing): PathHandler {
  return (exchange, { path, verb }) => {
    if (path !== '/metrics') return false
    if (verb !== 'get' && verb !== 'head') throw notAllowed()
    return exposer.expose().then(({ mediaType, text }) => exchange.send(200, mediaType, Buffer.from(text)))
  }
}
