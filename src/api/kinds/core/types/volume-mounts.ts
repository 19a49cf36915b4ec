/** A VolumeMount or VolumeDevice defines how a container uses the volumes of its pod. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
} from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { mergedBy } from '../../list-keys.ts'
import { checkDescendingPath } from './file-paths.ts'

const mountFields = {
  name: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Name of a volume in the pod.' }),
  readOnly: field(2, s.boolean(), {
    doc: 'Whether the volume is mounted read-only in this container. Defaults to false.',
  }),
  mountPath: field(3, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path in the container at which the volume is mounted. Must not contain a colon.',
  }),
  subPath: field(4, s.string(), {
    doc: 'Path within the volume from which to mount. Defaults to the root of the volume.',
  }),
  mountPropagation: field(5, s.string(), {
    zeroValue: 'keep',
    doc: 'How mounts propagate between the host and the container: `None`, `HostToContainer` or `Bidirectional`. Defaults to `None`.',
  }),
  subPathExpr: field(6, s.string(), {
    doc: 'Path within the volume from which to mount. References such as `$(NAME)` expand to environment variables.',
  }),
  recursiveReadOnly: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.30',
    gate: 'RecursiveReadOnlyMounts',
    doc: 'Whether nested mounts are also read-only: `Disabled`, `IfPossible` or `Enabled`. Requires `readOnly`.',
  }),
}

export type VolumeMount = InferFields<typeof mountFields>

const volumeMount = s.object(mountFields, {
  name: 'VolumeMount',
  doc: 'Mounts a volume, or a path within a volume, into a container.',
})

const deviceFields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Name of a volume in the pod. The volume must be backed by a PersistentVolumeClaim.',
  }),
  devicePath: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path at which the block device appears in the container.',
  }),
}

export type VolumeDevice = InferFields<typeof deviceFields>

const volumeDevice = s.object(deviceFields, {
  name: 'VolumeDevice',
  doc: 'Makes a pod volume available to a container as a raw block device.',
})

export const volumeMounts = s.list(volumeMount, mergedBy('mountPath'))
export const volumeDevices = s.list(volumeDevice, mergedBy('devicePath'))

const propagations = ['Bidirectional', 'HostToContainer', 'None']

interface Rights {
  readonly privileged?: boolean
}

/**
 * Validates the mounts of a container. Errors in paths and propagation are reported for the list, as clients expect.
 */
export function checkMounts(mounts: readonly VolumeMount[], rights: Rights | undefined, path: FieldPath): FieldError[] {
  return mounts.flatMap((mount, i) => {
    const { subPath = '', subPathExpr = '', mountPropagation: propagation } = mount
    return [
      ...checkDescendingPath(subPath, child(path, 'subPath')),
      ...checkDescendingPath(subPathExpr, child(path, 'subPathExpr')),
      ...(subPath !== '' && subPathExpr !== ''
        ? [invalid(child(at(path, i), 'subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
        : []),
      ...checkPropagation(propagation, rights?.privileged === true, child(path, 'mountPropagation')),
      ...checkRecursion(mount, child(path, 'recursiveReadOnly')),
    ]
  })
}

const recursions = ['Disabled', 'Enabled', 'IfPossible']

function checkRecursion(mount: VolumeMount, path: FieldPath): FieldError[] {
  const { recursiveReadOnly: recursion, readOnly, mountPropagation: propagation = 'None' } = mount
  if (recursion === undefined || recursion === 'Disabled') return []
  if (!recursions.includes(recursion)) return [notSupported(path, recursion, recursions)]
  return [
    ...(readOnly ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(propagation === 'None'
      ? []
      : [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]),
  ]
}

function checkPropagation(value: string | undefined, privileged: boolean, path: FieldPath): FieldError[] {
  if (value === undefined) return []
  if (!propagations.includes(value)) return [notSupported(path, value, propagations)]
  if (value !== 'Bidirectional' || privileged) return []
  return [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')]
}
