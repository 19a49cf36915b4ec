/**
 * PersistentVolumeLabel: adds zone labels and a matching node affinity to cloud volumes, because only nodes in the zone
 * of a cloud volume can use that volume. A table in the configuration specifies the zones.
 *
 *   volumes:
 *   - source: awsElasticBlockStore
 *     id: vol-1                       # any volume of that source if omitted
 *     labels: {topology.orch.io/zone: a, topology.orch.io/region: west}
 *
 * The first matching entry applies. The zone `a__b` means that the volume is in both zones.
 */

import { type Json, keysOf } from '../../../api/json/json.ts'
import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import { persistentVolume as persistentVolumes } from '../../../api/kinds/core/persistent-volume.ts'
import { type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, type InferFields, s } from '../../../api/schema/schema.ts'
import { checkLabels } from '../../../api/selectors/label-rules.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Control } from '../admission.ts'

interface Parts {
  readonly vendor: Vendor
}

/** Cloud volume types that are tied to a zone, each with the field that identifies the volume. */
const idFields = {
  awsElasticBlockStore: 'volumeID',
  azureDisk: 'diskName',
  cinder: 'volumeID',
  gcePersistentDisk: 'pdName',
  vsphereVolume: 'volumePath',
} as const

const entryFields = {
  source: field(1, s.oneOf(...keysOf(idFields)), {
    required: true,
    doc: 'Type of the volume source, such as `gcePersistentDisk`.',
  }),
  id: field(2, s.string(), { doc: 'ID of the volume. If omitted, the entry matches all volumes of this source.' }),
  labels: field(3, s.map(s.string()), { required: true, doc: 'Labels added to the volume.' }),
}

type Entry = InferFields<typeof entryFields>

const entry = s.object(entryFields, {
  check: ({ labels = {} }: Entry, path: FieldPath): FieldError[] => [
    ...(Object.keys(labels).length === 0 ? [invalid(`${path}.labels`, {}, 'name at least one')] : []),
    ...checkLabels(labels, `${path}.labels`),
  ],
})

const fields = { volumes: field(1, s.list(entry), { required: true, doc: 'Entries that assign labels to volumes.' }) }

export function persistentVolumeLabel(): Control<PersistentVolume> {
  throw new UsageError(
    'PersistentVolumeLabel requires a label table: set it in the file specified by --admission-control-config-file',
  )
}

export function configuredPersistentVolumeLabel({ vendor }: Parts, configuration: Json): Control<PersistentVolume> {
  const { volumes = [] } = readConfiguration(configuration, {
    vendor,
    fields,
    group: 'persistentvolumelabel.admission',
    versions: ['v1alpha1'],
    kind: 'Configuration',
  })
  const table = new Map(volumes.map((one) => [`${one.source} ${one.id ?? ''}`, one] as const).reverse())
  const zones = ['topology', 'failure-domain.beta'].map((domain) => vendorKey(vendor, 'zone', domain))
  return {
    name: 'PersistentVolumeLabel',
    handles: { operations: ['CREATE'], types: [persistentVolumes], subresources: [''] },
    mutate: ({ object }) => {
      const labels = entryFor(table, object.spec ?? {})?.labels
      return labels && labelled(object, labels, new Set(zones))
    },
  }
}

type VolumeSpec = NonNullable<PersistentVolume['spec']>

function entryFor(table: ReadonlyMap<string, Entry>, spec: VolumeSpec): Entry | undefined {
  for (const source of keysOf(idFields)) {
    const sourceFields = spec[source] as { readonly [field: string]: unknown } | undefined
    if (sourceFields !== undefined)
      return table.get(`${source} ${sourceFields[idFields[source]]}`) ?? table.get(`${source} `)
  }
  return undefined
}

function labelled(
  object: PersistentVolume,
  labels: { readonly [key: string]: string },
  zones: ReadonlySet<string>,
): PersistentVolume {
  const { metadata, spec = {} } = object
  // Labels that the volume already has take precedence over those in the configuration.
  const all = { ...labels, ...metadata.labels }
  const requirements = Object.keys(labels)
    .sort()
    .map((key) => ({
      key,
      operator: 'In' as const,
      values: zones.has(key) ? all[key]!.split('__').sort() : [all[key]!],
    }))
  return {
    ...object,
    metadata: { ...metadata, labels: all },
    spec: { ...spec, nodeAffinity: affine(spec, requirements) },
  }
}

type NodeAffinity = NonNullable<VolumeSpec['nodeAffinity']>
type Term = NonNullable<NonNullable<NodeAffinity['required']>['nodeSelectorTerms']>[number]
type Requirement = { readonly key: string; readonly operator: 'In'; readonly values: string[] }

/**
 * Adds the requirements to every term of the node affinity. If a term already uses one of the keys, the affinity stays
 * unchanged, because the volume already specifies its location.
 */
function affine({ nodeAffinity }: VolumeSpec, requirements: readonly Requirement[]): NodeAffinity {
  const terms = nodeAffinity?.required?.nodeSelectorTerms ?? []
  const keys = new Set(requirements.map(({ key }) => key))
  if (nodeAffinity && terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key = '' }) => keys.has(key))))
    return nodeAffinity
  const demanding = (terms.length === 0 ? [{}] : terms).map((term: Term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }))
  return { ...nodeAffinity, required: { nodeSelectorTerms: demanding } }
}
