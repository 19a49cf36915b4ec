/** The metrics of this server, gathered from the parts that record them or can be asked. */
import { AdmissionMetrics } from '../admission/admission-metrics.ts'
import { AuditMetrics } from '../audit/audit-metrics.ts'
import { AuthenticationMetrics } from '../authn/authentication-metrics.ts'
import { TokenMetrics } from '../authn/service-account/token-metrics.ts'
import type { Clock } from '../base/clock.ts'
import { ConversionMetrics } from '../custom/conversion-metrics.ts'
import { FlowMetrics } from '../flowcontrol/flow-metrics.ts'
import { RequestMetrics } from '../http/request-metrics.ts'
import { WatchMetrics } from '../http/watch-metrics.ts'
import { WorkQueueMetrics } from '../reconcile/work-queue-metrics.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { Gauge, type Metric } from '../telemetry/metrics.ts'
import { TraceMetrics } from '../telemetry/tracing/otlp-exporter.ts'
import { StoreMetrics } from './store-metrics.ts'

export interface ServerMetrics {
  readonly requests: RequestMetrics
  readonly watches: WatchMetrics
  readonly flows: FlowMetrics
  readonly traces: TraceMetrics
  readonly authentication: AuthenticationMetrics
  readonly tokens: TokenMetrics
  readonly audit: AuditMetrics
  readonly admission: AdmissionMetrics
  readonly store: StoreMetrics
  readonly workQueues: WorkQueueMetrics
  readonly conversions: ConversionMetrics
}

/** One recorder per part of the server, to be handed to that part. */
export function openMetrics(clock: Clock): ServerMetrics {
  return {
    requests: new RequestMetrics(),
    watches: new WatchMetrics(),
    flows: new FlowMetrics(),
    traces: new TraceMetrics(),
    authentication: new AuthenticationMetrics(clock),
    tokens: new TokenMetrics(),
    audit: new AuditMetrics(),
    admission: new AdmissionMetrics(clock),
    store: new StoreMetrics(clock),
    workQueues: new WorkQueueMetrics(),
    conversions: new ConversionMetrics(),
  }
}

/** What `/metrics` shows: all that is recorded, and what can be asked of the catalogue. */
export function allMetrics(recorded: ServerMetrics, catalogue: Catalogue): readonly Metric[] {
  return [...Object.values(recorded).flatMap(({ metrics }) => metrics), storedObjects(catalogue)]
}

function storedObjects(catalogue: Catalogue): Gauge {
  return new Gauge(
    {
      ...{ name: 'apiserver_storage_objects', help: 'How many objects of each type are stored.', labels: ['resource'] },
      across: 'max',
    },
    () =>
      catalogue
        .all()
        .flatMap((served) => (served.endpoint === undefined && served.stored === undefined ? [served] : []))
        .map(({ group, plural, cache }) => [[group === '' ? plural : `${plural}.${group}`], cache.size] as const),
  )
}
