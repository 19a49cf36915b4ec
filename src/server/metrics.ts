/** The metrics of this server, gathered from the parts that record them or can be asked. */
import type { Clock } from '../base/clock.ts'
import { RequestMetrics } from '../http/request-metrics.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { Exposer } from '../telemetry/exposition.ts'
import { Gauge } from '../telemetry/metrics.ts'

export interface ServerMetrics {
  readonly requests: RequestMetrics
  readonly exposer: Exposer
}

export function openMetrics(catalogue: Catalogue, clock: Clock): ServerMetrics {
  const requests = new RequestMetrics(clock)
  return { requests, exposer: new Exposer([...requests.metrics, storedObjects(catalogue)]) }
}

function storedObjects(catalogue: Catalogue): Gauge {
  return new Gauge(
    { name: 'apiserver_storage_objects', help: 'How many objects of each type are stored.', labels: ['resource'] },
    () =>
      catalogue
        .all()
        .flatMap((served) => (served.endpoint === undefined && served.stored === undefined ? [served] : []))
        .map(({ group, plural, cache }) => [[group === '' ? plural : `${plural}.${group}`], cache.size] as const),
  )
}
