/** The paths that are no resources: health, discovery, OpenAPI, the version, and the list of all of them. */
import { discoveryPaths } from '../http/discovery.ts'
import type { PathHandler } from '../http/dispatch.ts'
import { type HealthCheck, healthPaths } from '../http/health.ts'
import { openApiPaths } from '../http/openapi/openapi-paths.ts'
import { rootPaths, unknownPath } from '../http/root.ts'
import { apiLevel, version } from '../model/version.ts'
import type { Resource } from '../registry/resource.ts'

export interface PathParts {
  readonly resources: readonly Resource[]
  readonly ready: readonly HealthCheck[]
  readonly address: () => string
}

/** The first that knows a path answers. */
export function servedPaths({ resources, ready, address }: PathParts): PathHandler[] {
  const discovery = discoveryPaths({ resources, address })
  const groups = resources.flatMap(({ group, apiVersion }) =>
    group === '' ? [`/api/${apiVersion}`] : [`/apis/${group}`, `/apis/${apiVersion}`],
  )
  const always = ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/healthz', '/livez', '/readyz', '/version']
  const listed = [...new Set([...always, ...groups])].sort()
  return [
    healthPaths([], ready),
    discovery,
    openApiPaths({ resources, vendor: resources[0]!.vendor, version }),
    rootPaths({ version, api: apiLevel }, () => listed),
    unknownPath,
  ]
}
