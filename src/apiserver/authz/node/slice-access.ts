/**
 * Access of node agents to ResourceSlices: an agent may manage the slices of its own node. Since Kubernetes 1.32, it
 * may list ResourceSlices only with a field selector for that node. The admission plugin NodeRestriction checks which
 * node a new slice names.
 */
import { allow, noOpinion } from '../authorizer.ts'
import { because, type NodeJudge, selectsNode } from './node-and-pod-access.ts'

const ofOne = ['get', 'update', 'patch', 'delete']
const ofMany = ['list', 'watch', 'deletecollection']

interface SliceRules {
  /** Decides whether an existing slice belongs to the agent's node. */
  readonly related: NodeJudge
  /** Whether agents may list slices only with a field selector for their node. */
  readonly needsSelector: boolean
}

/** Decides whether a node agent may make a request for ResourceSlices. */
export function sliceAccess({ related, needsSelector }: SliceRules): NodeJudge {
  return (node, attributes) => {
    const { verb, subresource } = attributes
    if (subresource !== '') return because('cannot use subresources of resourceslices')
    if (verb === 'create') return allow
    if (ofOne.includes(verb)) return related(node, attributes)
    if (!ofMany.includes(verb)) return noOpinion
    if (!needsSelector || selectsNode(node, attributes)) return allow
    return because('can only list/watch/deletecollection resourceslices with spec.nodeName field selector')
  }
}
