/** File systems on the network as the content of volumes. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { readOnly, requiredText, secretRef, text } from './fields.ts'

export const nfs = s.object(
  {
    server: requiredText(1, 'The host that exports it.'),
    path: requiredText(2, 'The exported directory, from the root.'),
    readOnly: readOnly(3),
  },
  {
    name: 'NFSVolumeSource',
    doc: 'A directory that an NFS server exports.',
    check: ({ path = '' }, place) =>
      path.startsWith('/') ? [] : [invalid(child(place, 'path'), path, 'must be an absolute path')],
  },
)

export const glusterfsFields = {
  endpoints: requiredText(1, 'The Endpoints that list the hosts of the cluster.'),
  path: requiredText(2, 'The name of the volume.'),
  readOnly: readOnly(3),
}

export const azureFileFields = {
  secretName: requiredText(1, 'The Secret with the name and key of the account.'),
  shareName: requiredText(2, 'The name of the share.'),
  readOnly: readOnly(3),
}

export function cephfsWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: true, doc: 'The monitors of the cluster.' }),
      path: text(2, 'The directory to mount; the root if unset.'),
      user: text(3, 'The user to mount as; admin if unset.'),
      secretFile: text(4, 'The file on the node with the key of the user.'),
      secretRef: secretRef(5, reference),
      readOnly: readOnly(6),
    },
    { name, doc: 'A directory of CephFS.' },
  )
}

export const quobyte = s.object(
  {
    registry: requiredText(1, 'The registries, as host:port, separated by commas.'),
    volume: requiredText(2, 'The name of the volume.'),
    readOnly: readOnly(3),
    user: text(4, 'The user to mount as.'),
    group: text(5, 'The group to mount as.'),
    tenant: text(6, 'The tenant that owns the volume.'),
  },
  { name: 'QuobyteVolumeSource', doc: 'A volume of Quobyte.', check: checkQuobyte },
)

const maxTenantLength = 64
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/

function checkQuobyte(
  { registry = '', tenant = '' }: { registry?: string; tenant?: string },
  path: FieldPath,
): FieldError[] {
  if (registry === '') return []
  if (tenant.length > maxTenantLength)
    return [required(child(path, 'tenant'), `must be a UUID of at most ${maxTenantLength} characters`)]
  if (registry.split(',').every((pair) => hostAndPort.test(pair))) return []
  return [invalid(child(path, 'registry'), registry, 'must be host:port pairs, separated by commas')]
}
