/**
 * PodTopologyLabels: copies the zone and region labels of a node to the pods on the node, so that a pod can read them
 * as its own labels. The labels are set when the pod is bound, or on creation if the pod already specifies its node.
 */
import type { Binding } from '../../../api/kinds/core/binding.ts'
import { type Node, node as nodes } from '../../../api/kinds/core/node.ts'
import { type Pod, pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

interface LabelParts {
  readonly lookup: Lookup
  readonly emulation: Emulation
}

type Assigned = Pod | Binding

export function podTopologyLabels({ lookup, emulation: { gates } }: LabelParts): Control<Assigned> {
  return {
    name: 'PodTopologyLabels',
    handles: { operations: ['CREATE'], types: [pods], subresources: ['', 'binding'] },
    mutate: (request) => {
      const name = gates.has('PodTopologyLabelsAdmission') ? nodeNameOf(request) : ''
      if (name === '') return undefined
      const place = { namespace: '', name }
      const node = lookup.getCached(nodes, place) ?? lookup.getLatest(nodes, place)
      return node instanceof Promise ? node.then((later) => withTopology(request, later)) : withTopology(request, node)
    },
  }
}

/** Returns the name of the pod's node, or '' if the pod has no node. */
function nodeNameOf({ object, subresource }: AdmissionRequest<Assigned>): string {
  if (subresource === '') return (object as Pod).spec?.nodeName ?? ''
  const { kind, name = '' } = (object as Binding).target ?? {}
  return kind === 'Node' ? name : ''
}

/**
 * Adds the topology labels of the node. A missing node is not an error, because clients may name a node that does not
 * exist yet.
 */
function withTopology(
  { object, vendor, dependOn }: AdmissionRequest<Assigned>,
  node: StoredObject<Node> | undefined,
): Assigned | undefined {
  if (node === undefined) return undefined
  dependOn?.(node)
  const { labels = {} } = node.object.metadata
  const keys = ['zone', 'region'].map((name) => vendorKey(vendor, name, 'topology'))
  const topology = Object.fromEntries(
    keys.filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key]!]),
  )
  if (Object.keys(topology).length === 0) return undefined
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...topology } } }
}
