/** Describes the discovery paths as operations in OpenAPI documents, although these paths serve no objects. */
import type { Vendor } from '../../../api/model/vendor.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions, versionInfo } from '../../../api/schema/meta-types.ts'
import { derivation } from '../../../api/schema/of-version.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import { offered } from '../response/negotiate.ts'
import type { Described, GroupVersion } from './group-version.ts'
import { answers, type Path } from './operations.ts'

/** Returns the discovery paths above the group versions: `/version`, `/api`, `/apis` and one path per group. */
export function discoveryPaths({ vendor, emulated }: Described, groupVersions: readonly GroupVersion[]): Path[] {
  const produces = offered({ vendor, hasProtobuf: true })
  const groups = new Map(groupVersions.filter(({ group }) => group !== '').map((version) => [version.group, version]))
  return [
    discovery('/version/', 'version', {
      id: 'getCodeVersion',
      doc: 'Returns the server version.',
      schema: derivation(emulated).schema(versionInfo),
      produces: ['application/json'],
    }),
    discovery('/api/', 'core', {
      id: 'getCoreAPIVersions',
      doc: 'Lists the versions of the core group.',
      schema: apiVersions,
      produces,
    }),
    discovery('/apis/', 'apis', { id: 'getAPIVersions', doc: 'Lists the API groups.', schema: apiGroupList, produces }),
    ...[...groups.values()].map(({ group, name, tag, version }) =>
      discovery(`/apis/${group}/`, tag.slice(0, -version.length - 1), {
        id: `get${name.slice(0, -version.length)}APIGroup`,
        doc: 'Lists the versions of the group.',
        schema: apiGroup,
        produces,
      }),
    ),
  ]
}

/** Returns the path that lists the resource types of one group version. */
export function versionPath(vendor: Vendor, { path, tag, name }: GroupVersion): Path {
  return discovery(`${path}/`, tag, {
    id: `get${name}APIResources`,
    doc: 'Lists the resource types in the group version.',
    schema: apiResourceList,
    produces: offered({ vendor, hasProtobuf: true }),
  })
}

interface DiscoveryOperation {
  readonly id: string
  readonly doc: string
  readonly schema: Schema
  readonly produces: readonly string[]
}

function discovery(path: string, tag: string, { id, doc, schema, produces }: DiscoveryOperation): Path {
  const operation = { method: 'get', id, doc, query: [], answers: answers(schema, [200]), produces } as const
  return { path, tag, home: '', parameters: [], operations: [operation] }
}
