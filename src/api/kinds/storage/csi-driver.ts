/** A CSIDriver describes a Container Storage Interface driver and its requirements. */

import { type Json, sameJson } from '../../json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
} from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, isSince, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { checkTokenLife } from '../core/types/token-life.ts'
import { immutableField } from '../immutable.ts'

const lifecycleModes = ['Persistent', 'Ephemeral']

const tokenRequest = s.object(
  {
    audience: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Intended audience of the token. If empty, the token is intended for the API server.',
    }),
    expirationSeconds: field(2, s.int64(), {
      zeroValue: 'keep',
      doc: 'Lifetime of the token in seconds. Must be at least 600.',
    }),
  },
  {
    name: 'TokenRequest',
    doc: 'A request for a service account token to pass to the driver.',
  },
)

/** Name of the feature gate that controls the placement field. The gate existed before the field. */
const placementGate = 'VolumeLimitScaling'

const spec = s.object(
  {
    attachRequired: field(1, s.boolean(), {
      zeroValue: 'keep',
      default: true,
      doc: 'Whether a volume must be attached to a node before it can be mounted. Defaults to true. Immutable.',
    }),
    podInfoOnMount: field(2, s.boolean(), {
      zeroValue: 'keep',
      default: false,
      doc: 'Whether the driver receives pod information when it mounts a volume. Defaults to false. Immutable.',
    }),
    volumeLifecycleModes: field(3, s.list(s.string(), { list: 'set' }), {
      doc: 'Volume lifecycles that the driver supports: `Persistent` (the default) and `Ephemeral` (for inline volumes). Immutable.',
    }),
    storageCapacity: field(4, s.boolean(), {
      zeroValue: 'keep',
      default: false,
      doc: 'Whether the scheduler takes into account the storage capacity that the driver reports. Defaults to false.',
    }),
    fsGroupPolicy: field(5, s.oneOf('File', 'None', 'ReadWriteOnceWithFSType'), {
      zeroValue: 'keep',
      default: 'ReadWriteOnceWithFSType',
      doc: "When the ownership of files changes to the pod's `fsGroup`: `ReadWriteOnceWithFSType` (the default), `File` or `None`. Immutable.",
    }),
    tokenRequests: field(6, s.list(tokenRequest), {
      doc: "Tokens of the pod's service account that the driver receives when it mounts a volume.",
    }),
    requiresRepublish: field(7, s.boolean(), {
      zeroValue: 'keep',
      default: false,
      doc: 'Whether the node agent calls the driver periodically to update mounted volumes. Defaults to false.',
    }),
    seLinuxMount: field(8, s.boolean(), {
      zeroValue: 'keep',
      since: '1.25',
      gate: 'SELinuxMountReadWriteOncePod',
      doc: 'Whether the driver supports the SELinux mount option. Defaults to false.',
    }),
    nodeAllocatableUpdatePeriodSeconds: field(9, s.int64(), {
      zeroValue: 'keep',
      since: '1.33',
      gate: 'MutableCSINodeAllocatableCount',
      doc: 'Interval in seconds between updates of the volume limits of nodes. Must be at least 10. If unset, the limits are not updated.',
    }),
    serviceAccountTokenInSecrets: field(10, s.boolean(), {
      zeroValue: 'keep',
      since: '1.35',
      gate: 'CSIServiceAccountTokenSecrets',
      doc: 'Whether the driver receives service account tokens as secrets rather than in the volume context.',
    }),
    preventPodSchedulingIfMissing: field(11, s.boolean(), {
      zeroValue: 'keep',
      since: '1.36',
      gate: placementGate,
      doc: 'Whether pods with volumes of this driver can be scheduled only on nodes where the driver runs.',
    }),
  },
  {
    name: 'CSIDriverSpec',
    doc: 'Specification of a CSIDriver: the capabilities and requirements of the driver.',
    fill: (value, context) => {
      const { gates } = emulationOf(context)
      if (gates.has('SELinuxMountReadWriteOncePod')) value.seLinuxMount ??= false
      if (gates.has(placementGate) && isSince('1.36', context)) value.preventPodSchedulingIfMissing ??= false
      if (value.volumeLifecycleModes === undefined || value.volumeLifecycleModes.length === 0)
        value.volumeLifecycleModes = ['Persistent']
    },
    check: ({ volumeLifecycleModes: modes = [], tokenRequests = [], ...spec }, path) => [
      ...checkModes(modes, child(path, 'volumeLifecycleModes')),
      ...checkTokenRequests(tokenRequests, child(path, 'tokenRequests')),
      ...checkPeriod(spec.nodeAllocatableUpdatePeriodSeconds, child(path, 'nodeAllocatableUpdatePeriodSeconds')),
      ...(spec.serviceAccountTokenInSecrets !== undefined && tokenRequests.length === 0
        ? [
            invalid(
              child(path, 'serviceAccountTokenInSecrets'),
              spec.serviceAccountTokenInSecrets,
              'may only be set together with tokenRequests',
            ),
          ]
        : []),
    ],
  },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Capabilities and requirements of the driver.',
  }),
}

export type CSIDriver = ObjectOf<typeof fields>
type Spec = Infer<typeof spec>

const flag = (name: string, doc: string, of: (spec: Spec) => boolean | undefined): Column<CSIDriver> => ({
  ...column(name, doc, ({ spec }: CSIDriver) => of(spec ?? {}) ?? false),
  type: 'boolean',
})

export const csiDriver = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'CSIDriver',
    plural: 'csidrivers',
    scope: 'Cluster',
  },
  doc: 'A Container Storage Interface (CSI) driver. The object has the same name as the driver.',
  fields,
  rules: {
    prepareForUpdate: countChanges,
    validateUpdate: ({ spec: next = {} }, { spec: previous = {} }, context) =>
      (changesFreely(context) ? immutableNames : [...immutableNames, ...formerlyImmutableNames]).flatMap((name) =>
        immutableField(child('spec', name), next[name], previous[name]),
      ),
    warnings: ({ spec = {} }, _, context) =>
      emulationOf(context).gates.has('CSIServiceAccountTokenSecrets') &&
      spec.tokenRequests?.length &&
      spec.serviceAccountTokenInSecrets === undefined
        ? [
            'spec.serviceAccountTokenInSecrets: not set; set it to true if the driver supports it, to keep tokens out of logs',
          ]
        : [],
  },
  lifecycle: {
    needsVersion: true,
    deleteAnswers: 'object',
  },
  views: {
    columns: [
      nameColumn,
      flag(
        'AttachRequired',
        'Whether volumes must be attached before they are mounted.',
        (spec) => spec.attachRequired,
      ),
      flag(
        'PodInfoOnMount',
        'Whether the driver receives pod information when it mounts a volume.',
        (spec) => spec.podInfoOnMount,
      ),
      flag('StorageCapacity', 'Whether the driver reports storage capacity.', (spec) => spec.storageCapacity),
      column('TokenRequests', 'Intended audiences of the tokens that the driver receives.', ({ spec }: CSIDriver) =>
        spec?.tokenRequests === undefined ? '<unset>' : spec.tokenRequests.map(({ audience = '' }) => audience).join(),
      ),
      flag(
        'RequiresRepublish',
        'Whether the node agent calls the driver periodically to update mounted volumes.',
        (spec) => spec.requiresRepublish,
      ),
      column(
        'Modes',
        'Volume lifecycles that the driver supports.',
        ({ spec }: CSIDriver) => spec?.volumeLifecycleModes?.join() || '<none>',
      ),
      ageColumn,
    ],
  },
})

const immutableNames = ['attachRequired', 'volumeLifecycleModes'] as const
const formerlyImmutableNames = ['fsGroupPolicy', 'podInfoOnMount'] as const

/** Whether most fields of a CSI driver may change. True since 1.29. */
function changesFreely(context: RuleContext): boolean {
  return isAtLeast(emulationOf(context).version, '1.29')
}

/**
 * Increments the generation when the spec changes. Before 1.29, only changes that nodes must apply increment the
 * generation. A new object has no generation.
 */
function countChanges(next: CSIDriver, previous: CSIDriver, context: RuleContext): void {
  const counted = ({ spec = {} }: CSIDriver): Json =>
    changesFreely(context)
      ? (spec as Json)
      : [spec.tokenRequests ?? [], spec.requiresRepublish ?? false, spec.seLinuxMount ?? null]
  if (sameJson(counted(next), counted(previous))) return
  next.metadata.generation = (previous.metadata.generation ?? 0) + 1
}

function checkModes(modes: readonly string[], path: FieldPath): FieldError[] {
  return modes.filter((mode) => !lifecycleModes.includes(mode)).map((mode) => notSupported(path, mode, lifecycleModes))
}

const minUpdatePeriodSeconds = 10

function checkPeriod(seconds: number | undefined, path: FieldPath): FieldError[] {
  if (seconds === undefined || seconds >= minUpdatePeriodSeconds) return []
  return [invalid(path, seconds, `must be greater than or equal to ${minUpdatePeriodSeconds} seconds`)]
}

/** Validates token requests. If an audience is a duplicate, no other errors are reported for its request. */
function checkTokenRequests(requests: readonly Infer<typeof tokenRequest>[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(requests.map(({ audience = '' }) => audience))
  return requests.flatMap(({ audience = '', expirationSeconds }, i) =>
    repeated.has(i)
      ? [duplicate(child(at(path, i), 'audience'), audience)]
      : checkTokenLife(expirationSeconds, child(at(path, i), 'expirationSeconds')),
  )
}
