/** Volume sources provided by storage systems and volume drivers. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
} from '../../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../model/names.ts'
import { isVendorKey } from '../../../../model/vendor.ts'
import { emulationOf, type RuleContext } from '../../../../schema/context.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { isAtLeast } from '../../../../versions/emulated-version.ts'
import { flag, fsType, readOnly, requiredText, secretRef, text } from './fields.ts'

export const flocker = s.object(
  {
    datasetName: text(
      1,
      'Name of the dataset. Deprecated: use `datasetUUID`. Exactly one of `datasetName` and `datasetUUID` must be set.',
    ),
    datasetUUID: text(2, 'UUID of the dataset. Exactly one of `datasetName` and `datasetUUID` must be set.'),
  },
  {
    name: 'FlockerVolumeSource',
    doc: 'A Flocker dataset.',
    check: ({ datasetName = '', datasetUUID = '' }, path) => [
      ...(datasetName === '' && datasetUUID === ''
        ? [required(path, 'either datasetName or datasetUUID is required')]
        : []),
      ...(datasetName !== '' && datasetUUID !== ''
        ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified together')]
        : []),
      ...(datasetName.includes('/') ? [invalid(child(path, 'datasetName'), datasetName, "must not contain '/'")] : []),
    ],
  },
)

export const portworxVolume = s.object(
  { volumeID: requiredText(1, 'ID of the Portworx volume.'), fsType: fsType(2), readOnly: readOnly(3) },
  { name: 'PortworxVolumeSource', doc: 'A Portworx volume.' },
)

/** The volume name field. ScaleIO and StorageOS require it, although the published schema declares it as optional. */
const volumeName = (tag: number) =>
  field(tag, s.string(), { required: true, published: 'optional', doc: 'Name of the volume. Required.' })

export function scaleIoWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      gateway: requiredText(1, 'Address of the ScaleIO API gateway.'),
      system: requiredText(2, 'Name of the ScaleIO storage system.'),
      secretRef: field(3, reference, {
        published: 'required',
        doc: 'Secret that contains the credentials for the ScaleIO system.',
      }),
      sslEnabled: flag(4, 'Whether to connect to the gateway with TLS. Defaults to false.'),
      protectionDomain: text(5, 'Name of the ScaleIO protection domain that contains the storage pool.'),
      storagePool: text(6, 'Name of the ScaleIO storage pool within the protection domain.'),
      storageMode: field(7, s.string(), {
        default: 'ThinProvisioned',
        publishDefaultSince: '1.31',
        doc: 'How storage is allocated: `ThinProvisioned` or `ThickProvisioned`. Defaults to `ThinProvisioned`.',
      }),
      volumeName: volumeName(8),
      fsType: field(9, s.string(), {
        default: 'xfs',
        publishDefaultSince: '1.31',
        doc: 'File system type of the volume. Defaults to `xfs`.',
      }),
      readOnly: readOnly(10),
    },
    { name, doc: 'A ScaleIO volume.' },
  )
}

export function storageOsWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      volumeName: volumeName(1),
      volumeNamespace: text(2, "Namespace of the volume within StorageOS. Defaults to the pod's namespace."),
      fsType: fsType(3),
      readOnly: readOnly(4),
      secretRef: secretRef(5, reference),
    },
    {
      name,
      doc: 'A StorageOS volume.',
      check: ({ volumeName = '', volumeNamespace = '' }, path) => [
        ...checkLabel(volumeName, child(path, 'volumeName')),
        ...checkLabel(volumeNamespace, child(path, 'volumeNamespace')),
      ],
    },
  )
}

/** Validates a name. A missing name is reported elsewhere. */
function checkLabel(name: string, path: FieldPath): FieldError[] {
  return name === '' ? [] : checkDnsLabel(name).map((fault) => invalid(path, name, fault))
}

export function flexVolumeWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      driver: requiredText(1, 'Name of the FlexVolume driver.'),
      fsType: fsType(2),
      secretRef: secretRef(3, reference),
      readOnly: readOnly(4),
      options: field(5, s.map(s.string()), {
        doc: "Options to pass to the driver. Keys in the domain of the API server's vendor are reserved.",
      }),
    },
    { name, doc: 'A volume managed by a FlexVolume driver that is installed on the node.', check: checkFlexOptions },
  )
}

/**
 * Rejects keys in the vendor's domain, because the node agent uses them to pass information about the pod to the
 * driver.
 */
function checkFlexOptions(
  { options = {} }: { options?: { [key: string]: string } },
  path: FieldPath,
  { vendor }: RuleContext,
): FieldError[] {
  return Object.keys(options)
    .filter((key) => isVendorKey(vendor, key))
    .map((key) => invalid(at(child(path, 'options'), key), key, `the domain ${vendor.keyDomain} is reserved`))
}

const maxDriverNameLength = 63

/** Validates the name of a CSI driver, which is a DNS subdomain except that it may contain uppercase letters. */
export function checkDriverName(name: string, path: FieldPath, context: RuleContext): FieldError[] {
  // Since 1.36, a missing driver name is reported without further errors.
  if (name === '' && isAtLeast(emulationOf(context).version, '1.36')) return [required(path)]
  return [
    ...(name === '' ? [required(path)] : []),
    ...(name.length > maxDriverNameLength ? [tooLong(path, maxDriverNameLength)] : []),
    ...checkDnsSubdomain(name.toLowerCase()).map((fault) => invalid(path, name, fault)),
  ]
}
