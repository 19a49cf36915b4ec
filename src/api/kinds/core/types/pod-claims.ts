/** What a pod waits for and claims besides a node: scheduling gates, resource claims and scheduling groups. */
import { field, s } from '../../../schema/schema.ts'

export const schedulingGate = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the gate, unique in the pod.' }) },
  { name: 'PodSchedulingGate', doc: 'A gate that keeps a pod from being scheduled until it is removed.' },
)

const claimSource = s.object(
  {
    resourceClaimName: field(1, s.string(), {
      zeroValue: 'keep',
      doc: "Name of a ResourceClaim in the pod's namespace.",
    }),
    resourceClaimTemplateName: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Name of a ResourceClaimTemplate from which a claim is created for the pod.',
    }),
  },
  { name: 'ClaimSource', doc: 'Source of a resource claim. Exactly one field is set.' },
)

export const podResourceClaim = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the claim in the pod. Must be a DNS label.' }),
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
      doc: 'Name of a ResourceClaimTemplate from which a claim is created for the pod.',
    }),
  },
  { name: 'PodResourceClaim', doc: "A ResourceClaim that a pod's containers can use." },
)

export const workloadReference = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: "Name of the Workload in the pod's namespace." }),
    podGroup: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the pod group in the Workload.' }),
    podGroupReplicaKey: field(3, s.string(), { doc: 'Key of the pod group replica.' }),
  },
  { name: 'WorkloadReference', doc: 'Pod group in a Workload to which a pod belongs.' },
)

export const schedulingGroup = s.object(
  {
    podGroupName: field(1, s.string(), { zeroValue: 'keep', doc: "Name of the PodGroup in the pod's namespace." }),
  },
  { name: 'PodSchedulingGroup', doc: 'Group of pods that are scheduled together.' },
)
