/** All metrics of this server: those maintained by its recorders, and those computed from the catalogue. */
import { AdmissionMetrics } from '../../apiserver/admission/admission-metrics.ts'
import { AuditMetrics } from '../../apiserver/audit/audit-metrics.ts'
import { AuthenticationMetrics } from '../../apiserver/authn/authentication-metrics.ts'
import { TokenMetrics } from '../../apiserver/authn/service-account/token-metrics.ts'
import { ConversionMetrics } from '../../apiserver/custom/conversion/conversion-metrics.ts'
import { FlowMetrics } from '../../apiserver/flowcontrol/flow-metrics.ts'
import { HealthMetrics } from '../../apiserver/http/health-metrics.ts'
import { RequestMetrics } from '../../apiserver/http/request-metrics.ts'
import { WatchMetrics } from '../../apiserver/http/watch-metrics.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { Gauge, type Metric } from '../../base/telemetry/metrics.ts'
import { TraceMetrics } from '../../base/telemetry/tracing/otlp-exporter.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkQueueMetrics } from '../../client/reconcile/work-queue-metrics.ts'
import { ReloadMetrics } from '../identity/reload-metrics.ts'
import { StoreMetrics } from './store-metrics.ts'

/** The metric recorders of an API server. */
export interface ServerMetrics {
  readonly requests: RequestMetrics
  readonly watches: WatchMetrics
  readonly health: HealthMetrics
  readonly flows: FlowMetrics
  readonly traces: TraceMetrics
  readonly authentication: AuthenticationMetrics
  readonly authenticationReloads: ReloadMetrics
  readonly authorizationReloads: ReloadMetrics
  readonly tokens: TokenMetrics
  readonly audit: AuditMetrics
  readonly admission: AdmissionMetrics
  readonly store: StoreMetrics
  readonly workQueues: WorkQueueMetrics
  readonly conversions: ConversionMetrics
}

/** Creates the metric recorders. */
export function openMetrics(clock: Clock): ServerMetrics {
  return {
    requests: new RequestMetrics(),
    watches: new WatchMetrics(),
    health: new HealthMetrics(),
    flows: new FlowMetrics(),
    traces: new TraceMetrics(),
    authentication: new AuthenticationMetrics(clock),
    authenticationReloads: new ReloadMetrics('authentication', clock),
    authorizationReloads: new ReloadMetrics('authorization', clock),
    tokens: new TokenMetrics(),
    audit: new AuditMetrics(),
    admission: new AdmissionMetrics(clock),
    store: new StoreMetrics(clock),
    workQueues: new WorkQueueMetrics(),
    conversions: new ConversionMetrics(),
  }
}

/** Returns the metrics of all pages: those maintained by the recorders, and those computed from the catalogue. */
export function allMetrics(recorded: ServerMetrics, catalogue: Catalogue): readonly Metric[] {
  return [...Object.values(recorded).flatMap(({ metrics }) => metrics), storedObjects(catalogue)]
}

function storedObjects(catalogue: Catalogue): Gauge {
  return new Gauge(
    {
      name: 'apiserver_storage_objects',
      help: 'Number of stored objects, by type.',
      labels: ['resource'],
      across: 'max',
    },
    () =>
      catalogue
        .all()
        .flatMap((served) => (served.endpoint === undefined && served.stored === undefined ? [served] : []))
        .map(({ group, plural, cache }) => [[group === '' ? plural : `${plural}.${group}`], cache.size] as const),
  )
}
