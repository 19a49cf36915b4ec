/** Storage systems with volumes of their own, and drivers, as the content of volumes. */
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
import type { RuleContext } from '../../../../schema/context.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { flag, fsType, readOnly, requiredText, secretRef, text } from './fields.ts'

export const flocker = s.object(
  {
    datasetName: text(1, 'The name of the dataset. Deprecated: use its id.'),
    datasetUUID: text(2, 'The id of the dataset.'),
  },
  {
    name: 'FlockerVolumeSource',
    doc: 'A dataset of Flocker.',
    check: ({ datasetName = '', datasetUUID = '' }, path) => [
      ...(datasetName === '' && datasetUUID === ''
        ? [required(path, 'either datasetName or datasetUUID is needed')]
        : []),
      ...(datasetName !== '' && datasetUUID !== ''
        ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified together')]
        : []),
      ...(datasetName.includes('/') ? [invalid(child(path, 'datasetName'), datasetName, "must not contain '/'")] : []),
    ],
  },
)

export const portworxVolume = s.object(
  { volumeID: requiredText(1, 'The id of the volume.'), fsType: fsType(2), readOnly: readOnly(3) },
  { name: 'PortworxVolumeSource', doc: 'A volume of Portworx.' },
)

/** In these two the name of the volume is required, though the published schema does not say so. */
const volumeName = (tag: number) =>
  field(tag, s.string(), { required: true, published: 'optional', doc: 'The name of the volume. Needed.' })

export function scaleIoWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      gateway: requiredText(1, 'The address of the gateway of the API.'),
      system: requiredText(2, 'The name of the storage system.'),
      secretRef: field(3, reference, { published: 'required', doc: 'The Secret to identify with.' }),
      sslEnabled: flag(4, 'Whether to speak to the gateway over TLS.'),
      protectionDomain: text(5, 'The protection domain of the storage.'),
      storagePool: text(6, 'The pool in the protection domain.'),
      storageMode: field(7, s.string(), {
        default: 'ThinProvisioned',
        doc: 'How space is taken: ThinProvisioned or ThickProvisioned.',
      }),
      volumeName: volumeName(8),
      fsType: field(9, s.string(), { default: 'xfs', doc: 'The file system on it.' }),
      readOnly: readOnly(10),
    },
    { name, doc: 'A volume of ScaleIO.' },
  )
}

export function storageOsWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      volumeName: volumeName(1),
      volumeNamespace: text(2, 'The scope of the name within StorageOS; the namespace of the pod if unset.'),
      fsType: fsType(3),
      readOnly: readOnly(4),
      secretRef: secretRef(5, reference),
    },
    {
      name,
      doc: 'A volume of StorageOS.',
      check: ({ volumeName = '', volumeNamespace = '' }, path) => [
        ...checkLabel(volumeName, child(path, 'volumeName')),
        ...checkLabel(volumeNamespace, child(path, 'volumeNamespace')),
      ],
    },
  )
}

/** A name that is not there is no fault here. */
function checkLabel(name: string, path: FieldPath): FieldError[] {
  return name === '' ? [] : checkDnsLabel(name).map((fault) => invalid(path, name, fault))
}

export function flexVolumeWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      driver: requiredText(1, 'The name of the driver.'),
      fsType: fsType(2),
      secretRef: secretRef(3, reference),
      readOnly: readOnly(4),
      options: field(5, s.map(s.string()), { doc: 'Options for the driver.' }),
    },
    { name, doc: 'A volume of a driver that is installed on the node.', check: checkFlexOptions },
  )
}

/** The node passes information about the Pod to a driver in options of the vendor's own. */
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

/** The name of a CSI driver: a DNS subdomain, whose letters may be capital. */
export function checkDriverName(name: string, path: FieldPath): FieldError[] {
  return [
    ...(name === '' ? [required(path)] : []),
    ...(name.length > maxDriverNameLength ? [tooLong(path, maxDriverNameLength)] : []),
    ...checkDnsSubdomain(name.toLowerCase()).map((fault) => invalid(path, name, fault)),
  ]
}
