/** Paths that are not resources: health, discovery, OpenAPI, version and the list of all paths. */

import { version } from '../../api/model/version.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { isAtLeast } from '../../api/versions/emulated-version.ts'

import type { Aggregation } from '../../apiserver/aggregation/aggregation.ts'
import type { PathHandler } from '../../apiserver/http/dispatch.ts'
import type { HealthMetrics } from '../../apiserver/http/health-metrics.ts'
import { openApiPaths } from '../../apiserver/http/openapi/openapi-paths.ts'
import { backupPaths, maxBackups } from '../../apiserver/http/paths/backup-path.ts'
import { componentPagePaths, componentPages } from '../../apiserver/http/paths/component-pages.ts'
import { debugPages } from '../../apiserver/http/paths/debug-pages.ts'
import { discoveryPaths } from '../../apiserver/http/paths/discovery.ts'
import type { AggregatedVersions } from '../../apiserver/http/paths/discovery-groups.ts'
import { type HealthCheck, healthPaths } from '../../apiserver/http/paths/health.ts'
import {
  isDiscoverable,
  issuerDiscovery,
  issuerPaths,
  type PublicIssuer,
} from '../../apiserver/http/paths/issuer-discovery.ts'
import { metricsPaths } from '../../apiserver/http/paths/metrics-path.ts'
import { rootPaths, unknownPath } from '../../apiserver/http/paths/root.ts'
import { type Catalogue, whileUnchanged } from '../../apiserver/registry/catalogue/catalogue.ts'
import { SharedCount } from '../../base/limits/shared-count.ts'
import type { Exposing } from '../../base/telemetry/exposition.ts'
import type { MetricsPage } from '../../base/telemetry/metrics.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { WorkerContext } from '../threads/worker-context.ts'

export interface PathParts {
  readonly catalogue: Catalogue
  /** The Kubernetes version that `/version` reports, and the enabled feature gates. */
  readonly emulation: Emulation
  readonly aggregation: Aggregation
  /** Group versions provided by aggregated servers or the metrics file. */
  readonly aggregated: AggregatedVersions
  /** API versions that are enabled for webhook calls but serve no resources. */
  readonly spoken: readonly string[]
  readonly ready: readonly HealthCheck[]
  readonly address: () => string
  readonly exposer: Exposing
  /** Counts the results of health checks for `/metrics`. */
  readonly health: HealthMetrics
  /** Public keys and URL of the service account token issuer. */
  readonly issuer: PublicIssuer
  /** The URL of the issuer's public keys. Empty if this server publishes the keys. */
  readonly keysAddress: string
  /** Whether lists support query parameters that do not exist in Kubernetes. */
  readonly extensions: boolean
  /** Streams a backup of the store's current state. */
  readonly makeBackup: () => AsyncIterable<Buffer>
  /** The worker that runs this server, or undefined in a process without workers. */
  readonly worker: WorkerContext | undefined
  /** Whether the profiling endpoints are enabled. */
  readonly profiling: boolean
  /** Returns the value of each flag as text, for `/flagz`. */
  readonly flags: () => ReadonlyMap<string, string>
}

/** Returns the path handlers. The first handler that recognizes a path sends the response. */
export function servedPaths(parts: PathParts): PathHandler[] {
  const { catalogue, aggregation, aggregated, ready, address, exposer, issuer, keysAddress } = parts
  const hasDiscovery = isDiscoverable(issuer.name)
  const more = hasDiscovery ? Object.values(issuerPaths) : []
  const allPaths = whileUnchanged([catalogue, aggregated], () => [...listPaths(parts), ...more].sort())
  const keysAt = () => keysAddress || `https://${address()}${issuerPaths.keys}`
  return [
    healthPaths([], ready, parts.health),
    metricsPaths(exposer, metricsPages(parts.emulation)),
    componentPages({
      vendor: catalogue.vendor,
      emulation: parts.emulation,
      clock: systemClock,
      version,
      paths: allPaths,
      flags: parts.flags,
    }),
    backupPaths(parts.makeBackup, new SharedCount(maxBackups, parts.worker?.limits.backups, parts.worker?.index)),
    ...(parts.profiling ? [debugPages()] : []),
    discoveryPaths({ catalogue, aggregated, emulation: parts.emulation, spoken: parts.spoken, address }),
    openApiPaths({
      catalogue,
      version,
      emulated: parts.emulation.version,
      extensions: parts.extensions,
      published: () => aggregation.published(),
      passOn: (exchange, place) => aggregation.handleOpenApi(exchange, place),
    }),
    ...(hasDiscovery ? [issuerDiscovery({ issuer, keysAt, emulation: parts.emulation })] : []),
    rootPaths({ version, api: parts.emulation.version }, allPaths),
    unknownPath,
  ]
}

const always = ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/healthz', '/livez', '/readyz', '/version']

/** Returns the paths of the metrics pages in the emulated version. */
function metricsPages({ version }: Emulation): readonly MetricsPage[] {
  return isAtLeast(version, '1.27') ? ['/metrics', '/metrics/slis'] : ['/metrics']
}

function listPaths({ catalogue, emulation, aggregated, spoken }: PathParts): string[] {
  const others = [...[...aggregated.all()].map(({ group, version }) => `${group}/${version}`), ...spoken].flatMap(
    (name) => [`/apis/${name.split('/')[0]}`, `/apis/${name}`],
  )
  const groups = catalogue
    .all()
    .flatMap(({ group, apiVersion }) =>
      group === '' ? [`/api/${apiVersion}`] : [`/apis/${group}`, `/apis/${apiVersion}`],
    )
  return [...new Set([...always, ...metricsPages(emulation), ...componentPagePaths(emulation), ...groups, ...others])]
}
