/** What is valid where a schema cannot say it, for the kinds of storage, scheduling, node and the like. */
import type { JsonObject } from '../../src/model/json.ts'
import { keepOne, labelValue, maybe, modes, oneOf, qualified, some, subdomain, table, word } from './makers.ts'
import { freeText, type MakeField, type ValidValues } from './random-object.ts'

const driver: MakeField = (making) => making.pick(['csi.example.com', 'Upper.Case'])

const storage: ValidValues['fields'] = {
  'StorageClass.provisioner': (making) => making.pick([qualified(making)!, 'Example.COM/Disks_1']),
  'StorageClass.reclaimPolicy': maybe(oneOf('', 'Delete', 'Retain')),
  'StorageClass.allowedTopologies': maybe(
    some((making) => ({ matchLabelExpressions: [{ key: qualified(making)!, values: ['a', 'b'] }] })),
  ),
  'TopologySelectorTerm.matchLabelExpressions': some((making) => ({ key: qualified(making)!, values: ['a'] })),
  'CSIDriverSpec.volumeLifecycleModes': maybe(oneOf([], ['Ephemeral'], ['Persistent', 'Ephemeral'])),
  'TokenRequest.audience': ({ count }) => `audience ${count()}`,
  'TokenRequest.expirationSeconds': maybe(oneOf(600, 2 ** 32)),
  'CSINodeDriver.name': (making) => `d${making.count()}.example.com`,
  'CSINodeDriver.topologyKeys': maybe(some(qualified)),
  'VolumeNodeResources.count': maybe(oneOf(0, 7)),
  'CSIStorageCapacity.storageClassName': subdomain,
  'VolumeAttachmentSpec.attacher': driver,
  'VolumeAttachmentSpec.nodeName': subdomain,
  'VolumeAttachmentSource.persistentVolumeName': maybe(subdomain),
  'VolumeAttachmentSource.inlineVolumeSpec': (making) => ({
    accessModes: modes(making)!,
    csi: { driver: driver(making)!, volumeHandle: freeText(making) },
    ...making.pick<JsonObject>([{}, { volumeMode: 'Filesystem', mountOptions: ['ro'] }]),
  }),
}

const nodes: ValidValues['fields'] = {
  'PriorityClass.value': oneOf(0, -5, 1_000_000_000),
  'PriorityClass.preemptionPolicy': maybe(oneOf('Never', 'PreemptLowerPriority')),
  'LeaseSpec.leaseDurationSeconds': maybe(oneOf(1, 15)),
  'RuntimeClass.handler': word,
  'Overhead.podFixed': maybe(oneOf({ cpu: '250m', memory: '1Mi' }, { 'example.com/gpu': '2' })),
  'Scheduling.nodeSelector': maybe(table(qualified, labelValue)),
  'Scheduling.tolerations': maybe(
    some((making) => ({ key: qualified(making)!, ...making.pick([{ operator: 'Exists' }, { value: 'v' }]) })),
  ),
}

export const groupValues: Omit<ValidValues, 'longest'> = {
  fields: { ...storage, ...nodes },
  needed: ['VolumeAttachment.spec', 'VolumeAttachmentSpec.source'],
  agree: {
    VolumeAttachmentSource: (object, making) => keepOne(object, ['persistentVolumeName', 'inlineVolumeSpec'], making),
  },
}
