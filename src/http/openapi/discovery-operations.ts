/** The paths of discovery. They are described like the resources, though they have no objects. */
import { apiGroup, apiGroupList, apiResourceList, apiVersions, versionInfo } from '../../schema/meta-types.ts'
import type { Schema } from '../../schema/schema.ts'
import { offered } from '../negotiate.ts'
import type { GroupVersion } from './group-version.ts'
import { answers, type Path } from './operations.ts'

/** The paths above the versions of groups. */
export function discoveryPaths(groupVersions: readonly GroupVersion[]): Path[] {
  const groups = new Map(groupVersions.filter(({ group }) => group !== '').map((version) => [version.group, version]))
  return [
    discovery('/version/', 'version', { id: 'getCodeVersion', doc: 'Tells what the server is.', schema: versionInfo }),
    discovery('/api/', 'core', {
      id: 'getCoreAPIVersions',
      doc: 'Tells the versions of the core group.',
      schema: apiVersions,
    }),
    discovery('/apis/', 'apis', { id: 'getAPIVersions', doc: 'Tells the groups.', schema: apiGroupList }),
    ...[...groups.values()].map(({ group, name, tag, version }) =>
      discovery(`/apis/${group}/`, tag.slice(0, -version.length - 1), {
        id: `get${name.slice(0, -version.length)}APIGroup`,
        doc: 'Tells the versions of the group.',
        schema: apiGroup,
      }),
    ),
  ]
}

/** The resource types of one version of a group. */
export function versionPath({ path, tag, name }: GroupVersion): Path {
  return discovery(`${path}/`, tag, {
    id: `get${name}APIResources`,
    doc: 'Tells the resource types.',
    schema: apiResourceList,
  })
}

function discovery(path: string, tag: string, { id, doc, schema }: { id: string; doc: string; schema: Schema }): Path {
  const operation = { method: 'get', id, doc, query: [], answers: answers(schema, [200]), produces: offered } as const
  return { path, tag, home: '', parameters: [], operations: [operation] }
}
