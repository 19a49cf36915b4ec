/**
 * Validation of the fields that can delay the scheduling of a pod: scheduling gates, resource claims and scheduling
 * groups.
 */
import { at, child, duplicate, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from './repeated.ts'

export const schedulingGate = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the scheduling gate, unique within the pod.' }) },
  {
    name: 'PodSchedulingGate',
    doc: 'A scheduling gate. The pod is not scheduled until all its gates have been removed.',
  },
)

const claimSource = s.object(
  {
    resourceClaimName: field(1, s.string(), {
      zeroValue: 'keep',
      doc: "Name of a ResourceClaim in the pod's namespace.",
    }),
    resourceClaimTemplateName: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Name of the ResourceClaimTemplate from which a claim is created for the pod.',
    }),
  },
  { name: 'ClaimSource', doc: 'Source of a resource claim. Exactly one field must be set.' },
)

const podClaimFields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    doc: "Name by which the pod's containers refer to the claim. Must be a DNS label.",
  }),
  source: field(2, claimSource, { zeroValue: 'write', until: '1.31', doc: 'Source of the claim.' }),
  resourceClaimName: field(3, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'DynamicResourceAllocation',
    doc: "Name of a ResourceClaim in the pod's namespace.",
  }),
  resourceClaimTemplateName: field(4, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'DynamicResourceAllocation',
    doc: 'Name of the ResourceClaimTemplate from which a claim is created for the pod.',
  }),
}

export type PodResourceClaim = InferFields<typeof podClaimFields>

export const podResourceClaim = s.object(podClaimFields, {
  name: 'PodResourceClaim',
  doc: 'A ResourceClaim that the containers of a pod can use.',
  check: checkClaim,
})

export const workloadReference = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: "Name of the Workload in the pod's namespace." }),
    podGroup: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the pod group within the Workload.' }),
    podGroupReplicaKey: field(3, s.string(), { doc: 'Key that identifies the replica of the pod group.' }),
  },
  {
    name: 'WorkloadReference',
    doc: 'Identifies the Workload and the pod group to which a pod belongs.',
    check: ({ name = '', podGroup = '', podGroupReplicaKey: key = '' }, path) => [
      ...checkDnsSubdomain(name).map((text) => invalid(child(path, 'name'), name, text)),
      ...checkDnsLabel(podGroup).map((text) => invalid(child(path, 'podGroup'), podGroup, text)),
      ...(key === '' ? [] : checkDnsLabel(key)).map((text) => invalid(child(path, 'podGroupReplicaKey'), key, text)),
    ],
  },
)

export const schedulingGroup = s.object(
  {
    podGroupName: field(1, s.string(), { zeroValue: 'keep', doc: "Name of the PodGroup in the pod's namespace." }),
  },
  {
    name: 'PodSchedulingGroup',
    doc: 'Reference to the group of pods with which a pod is scheduled.',
    check: ({ podGroupName: name }, path) =>
      name === undefined
        ? [invalid(child(path, 'podGroupName'), null, 'must be set')]
        : checkDnsSubdomain(name).map((text) => invalid(child(path, 'podGroupName'), name, text)),
  },
)

function checkClaim(claim: PodResourceClaim, path: FieldPath): FieldError[] {
  const { name = '', source } = claim
  // Before 1.31, these fields are nested in `source`.
  const [names, place] = source === undefined ? [claim, path] : [source, child(path, 'source')]
  const sourceNames = (['resourceClaimName', 'resourceClaimTemplateName'] as const).filter(
    (each) => names[each] !== undefined,
  )
  return [
    ...(name === ''
      ? [required(child(path, 'name'))]
      : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(sourceNames.length === 1
      ? []
      : [invalid(place, names, 'exactly one of `resourceClaimName` and `resourceClaimTemplateName` is required')]),
    ...sourceNames.flatMap((each) =>
      checkDnsSubdomain(names[each]!).map((text) => invalid(child(place, each), names[each], text)),
    ),
  ]
}

export function checkRepeatedClaims(claims: readonly PodResourceClaim[], path: FieldPath): FieldError[] {
  const names = claims.map(({ name }) => name || undefined)
  return [...repeatedAt(names)].map((i) => duplicate(child(at(path, i), 'name'), names[i]))
}

/** Validates the names of scheduling gates. Errors are reported for the gate instead of its name, as clients expect. */
export function checkSchedulingGates(gates: readonly { readonly name?: string }[], path: FieldPath): FieldError[] {
  const names = gates.map(({ name = '' }) => name)
  const repeated = repeatedAt(names)
  return names.flatMap((name, i) => [
    ...checkQualifiedName(name).map((text) => invalid(at(path, i), name, text)),
    ...(repeated.has(i) ? [duplicate(at(path, i), name)] : []),
  ])
}
