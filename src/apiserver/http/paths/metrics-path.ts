/** `/metrics` and `/metrics/slis`: the server's metrics in the Prometheus text format. */
import type { Exposing } from '../../../base/telemetry/exposition.ts'
import type { MetricsPage } from '../../../base/telemetry/metrics.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'

/** Returns the handler for the pages `/metrics` and `/metrics/slis`. */
export function metricsPaths(exposer: Exposing, pages: readonly MetricsPage[]): PathHandler {
  return (exchange, { path, verb }) => {
    const page = pages.find((each) => each === path)
    if (page === undefined) return false
    if (verb !== 'get' && verb !== 'head') throw notAllowed()
    return exposer.expose(page).then(({ mediaType, text }) => exchange.send(200, mediaType, Buffer.from(text)))
  }
}
