/** Volume sources backed by network file systems. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { readOnly, requiredText, secretRef, text } from './fields.ts'

export const nfs = s.object(
  {
    server: requiredText(1, 'Host name or IP address of the NFS server.'),
    path: requiredText(2, 'Absolute path of the exported directory.'),
    readOnly: readOnly(3),
  },
  {
    name: 'NFSVolumeSource',
    doc: 'A directory exported by an NFS server.',
    check: ({ path = '' }, place) =>
      path.startsWith('/') ? [] : [invalid(child(place, 'path'), path, 'must be an absolute path')],
  },
)

export const glusterfsFields = {
  endpoints: requiredText(1, 'Name of the Endpoints object that lists the Glusterfs servers.'),
  path: requiredText(2, 'Name of the Glusterfs volume.'),
  readOnly: readOnly(3),
}

export const azureFileFields = {
  secretName: requiredText(1, 'Name of the Secret that contains the name and key of the Azure storage account.'),
  shareName: requiredText(2, 'Name of the Azure Files share.'),
  readOnly: readOnly(3),
}

export function cephfsWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: true, doc: 'Addresses of the Ceph monitors.' }),
      path: text(2, 'Directory to mount. Defaults to the root of the file system.'),
      user: text(3, 'Name of the Ceph user. Defaults to `admin`.'),
      secretFile: text(4, "Path of the user's key file on the node."),
      secretRef: secretRef(5, reference),
      readOnly: readOnly(6),
    },
    { name, doc: 'A CephFS directory.' },
  )
}

export const quobyte = s.object(
  {
    registry: requiredText(1, 'Addresses of the Quobyte registries, in the form `host:port`, separated by commas.'),
    volume: requiredText(2, 'Name of the Quobyte volume.'),
    readOnly: readOnly(3),
    user: text(4, 'User as whom to mount the volume.'),
    group: text(5, 'Group with which to mount the volume.'),
    tenant: text(6, 'Name of the tenant that owns the volume. At most 64 characters.'),
  },
  { name: 'QuobyteVolumeSource', doc: 'A Quobyte volume.', check: checkQuobyte },
)

const maxTenantLength = 64
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/

function checkQuobyte(
  { registry = '', tenant = '' }: { registry?: string; tenant?: string },
  path: FieldPath,
): FieldError[] {
  if (registry === '') return []
  if (tenant.length > maxTenantLength)
    return [required(child(path, 'tenant'), `must be a UUID with at most ${maxTenantLength} characters`)]
  if (registry.split(',').every((pair) => hostAndPort.test(pair))) return []
  return [invalid(child(path, 'registry'), registry, 'must be host:port pairs, separated by commas')]
}
