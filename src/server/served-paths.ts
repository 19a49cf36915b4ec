/** The paths that are not resources: health, discovery, OpenAPI, the version, and the list of all of them. */
import type { Aggregation } from '../aggregation/aggregation.ts'
import { SharedCount } from '../base/shared-count.ts'
import { backupPaths, maxBackups } from '../http/backup-path.ts'
import { debugPages } from '../http/debug-pages.ts'
import { discoveryPaths } from '../http/discovery.ts'
import type { PathHandler } from '../http/dispatch.ts'
import { type HealthCheck, healthPaths } from '../http/health.ts'
import { isDiscoverable, issuerDiscovery, issuerPaths, type PublicIssuer } from '../http/issuer-discovery.ts'
import { metricsPath } from '../http/metrics-path.ts'
import { openApiPaths } from '../http/openapi/openapi-paths.ts'
import { rootPaths, unknownPath } from '../http/root.ts'
import { apiLevel, version } from '../model/version.ts'
import { type Catalogue, whileUnchanged } from '../registry/catalogue.ts'
import type { Exposing } from '../telemetry/exposition.ts'
import type { WorkerPlace } from './worker-place.ts'

export interface PathParts {
  readonly catalogue: Catalogue
  readonly aggregation: Aggregation
  /** Versions that are on and in which nothing is served. */
  readonly spoken: readonly string[]
  readonly ready: readonly HealthCheck[]
  readonly address: () => string
  readonly exposer: Exposing
  /** Of service account tokens. */
  readonly issuer: PublicIssuer
  /** Where its keys are said to be; '': here. */
  readonly keysAddress: string
  /** Begins a backup of what is stored now. */
  readonly makeBackup: () => AsyncIterable<Buffer>
  /** Where this server is one of several in this process. */
  readonly worker: WorkerPlace | undefined
  /** Whether profiles can be taken. */
  readonly profiling: boolean
}

/** The first that knows a path answers. */
export function servedPaths(parts: PathParts): PathHandler[] {
  const { catalogue, aggregation, ready, address, exposer, issuer, keysAddress } = parts
  const elsewhere = aggregation.backends
  const hasDiscovery = isDiscoverable(issuer.name)
  const more = hasDiscovery ? Object.values(issuerPaths) : []
  const listed = whileUnchanged([catalogue, elsewhere], () => [...listPaths(parts), ...more].sort())
  const keysAt = () => keysAddress || `https://${address()}${issuerPaths.keys}`
  return [
    healthPaths([], ready),
    metricsPath(exposer),
    backupPaths(parts.makeBackup, new SharedCount(maxBackups, parts.worker?.limits.backups, parts.worker?.index)),
    ...(parts.profiling ? [debugPages()] : []),
    discoveryPaths({ catalogue, elsewhere, spoken: parts.spoken, address }),
    openApiPaths({
      ...{ catalogue, version },
      published: () => aggregation.published(),
      passOn: (exchange, place) => aggregation.handleOpenApi(exchange, place),
    }),
    ...(hasDiscovery ? [issuerDiscovery(issuer, keysAt)] : []),
    rootPaths({ version, api: apiLevel }, listed),
    unknownPath,
  ]
}

const always = ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/healthz', '/livez', '/metrics', '/readyz', '/version']

function listPaths({ catalogue, aggregation, spoken }: PathParts): string[] {
  const elsewhere = [...aggregation.backends.all()].map(({ group, version }) => `${group}/${version}`)
  const others = [...elsewhere, ...spoken].flatMap((name) => [`/apis/${name.split('/')[0]}`, `/apis/${name}`])
  const groups = catalogue
    .all()
    .flatMap(({ group, apiVersion }) =>
      group === '' ? [`/api/${apiVersion}`] : [`/apis/${group}`, `/apis/${apiVersion}`],
    )
  return [...new Set([...always, ...groups, ...others])]
}
