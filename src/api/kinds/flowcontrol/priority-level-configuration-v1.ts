/**
 * PriorityLevelConfiguration in v1beta3 and v1, in which the level's share of the concurrency is named
 * `nominalConcurrencyShares`. In the stored version, the field is named `assuredConcurrencyShares`.
 */
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import {
  limitedFields,
  type PriorityLevelConfiguration,
  priorityLevelConfiguration,
  specFields,
  fields as storedFields,
} from './priority-level-configuration.ts'
import { conditionsStatus } from './types/conditions.ts'

const { assuredConcurrencyShares: _, ...sharedFields } = limitedFields

const limited = s.object(
  {
    nominalConcurrencyShares: field(1, s.int32(), {
      zeroValue: 'keep',
      doc: "Share of the server's concurrency for this priority level, relative to the other priority levels. Defaults to 30.",
    }),
    ...sharedFields,
  },
  {
    name: 'LimitedPriorityLevelConfiguration',
    doc: 'Limits for a priority level.',
    fill: (value) => {
      value.nominalConcurrencyShares ??= 30
      value.lendablePercent ??= 0
    },
  },
)

const spec = s.object(
  { ...specFields, limited: { ...specFields.limited, schema: limited } },
  { name: 'PriorityLevelConfigurationSpec', doc: 'Specification of a priority level.' },
)

const fields = {
  spec: { ...storedFields.spec, schema: spec },
  status: { ...storedFields.status, schema: conditionsStatus('PriorityLevelConfiguration', 'merge') },
}

type Newer = ObjectOf<typeof fields>

/** Returns the object with its shares in the newer field. */
function fromStored({ spec: stored, ...rest }: PriorityLevelConfiguration): Newer {
  if (stored?.limited === undefined) return { ...rest, ...(stored && { spec: stored as Newer['spec'] }) } as Newer
  const { assuredConcurrencyShares, ...others } = stored.limited
  return {
    ...rest,
    spec: { ...stored, limited: { ...others, nominalConcurrencyShares: assuredConcurrencyShares } },
  } as Newer
}

function toStored({ spec: sent, ...rest }: Newer): PriorityLevelConfiguration {
  if (sent?.limited === undefined)
    return { ...rest, ...(sent && { spec: sent as PriorityLevelConfiguration['spec'] }) } as PriorityLevelConfiguration
  const { nominalConcurrencyShares, ...others } = sent.limited
  const limits = { ...others, assuredConcurrencyShares: nominalConcurrencyShares }
  return { ...rest, spec: { ...sent, limited: limits } } as PriorityLevelConfiguration
}

/** Key of the annotation for levels with 0 shares. Without the annotation, 0 means the default in v1beta3. */
const zeroSharesKey = (vendor: Vendor) => vendorKey(vendor, 'v1beta3-preserve-zero-concurrency-shares', 'flowcontrol')

/** Sets the annotation on a level without shares, so that a client can write the object back unchanged. */
function fromStoredInV1beta3(object: PriorityLevelConfiguration, vendor: Vendor): Newer {
  const shown = fromStored(object)
  if (shown.spec?.limited?.nominalConcurrencyShares !== 0) return shown
  const annotations = { ...shown.metadata.annotations, [zeroSharesKey(vendor)]: '' }
  return { ...shown, metadata: { ...shown.metadata, annotations } }
}

function fillDefaults({ metadata, spec }: Newer, { vendor }: RuleContext): void {
  if (spec?.limited?.nominalConcurrencyShares !== 0) return
  if (!Object.hasOwn(metadata.annotations ?? {}, zeroSharesKey(vendor))) spec.limited.nominalConcurrencyShares = 30
}

export const priorityLevelConfigurationV1beta3 = defineVersion(priorityLevelConfiguration, {
  version: 'v1beta3',
  fields,
  since: '1.26',
  until: '1.32',
  deprecated: {
    since: '1.29',
    instead: { group: 'flowcontrol.apiserver', version: 'v1', kind: 'PriorityLevelConfiguration' },
  },
  fillDefaults,
  fromStored: fromStoredInV1beta3,
  toStored,
})

export const priorityLevelConfigurationV1 = defineVersion(priorityLevelConfiguration, {
  version: 'v1',
  fields,
  since: '1.29',
  fromStored,
  toStored,
})
