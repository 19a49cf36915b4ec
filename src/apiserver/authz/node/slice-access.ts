/**
 * Access of node agents to ResourceSlices: an agent may manage the slices of its own node, and may list them only with
 * a field selector for that node. The admission plugin NodeRestriction checks which node a new slice names.
 */
import { allow, noOpinion } from '../authorizer.ts'
import { because, type NodeJudge, selectsNode } from './node-and-pod-access.ts'

const ofOne = ['get', 'update', 'patch', 'delete']
const ofMany = ['list', 'watch', 'deletecollection']

/** Decides about a request for ResourceSlices. `related` checks that a slice belongs to the node. */
export function sliceAccess(related: NodeJudge): NodeJudge {
  return (node, attributes) => {
    const { verb, subresource } = attributes
    if (subresource !== '') return because('cannot use subresources of resourceslices')
    if (verb === 'create') return allow
    if (ofOne.includes(verb)) return related(node, attributes)
    if (!ofMany.includes(verb)) return noOpinion
    if (selectsNode(node, attributes)) return allow
    return because('can only list/watch/deletecollection resourceslices with spec.nodeName field selector')
  }
}
