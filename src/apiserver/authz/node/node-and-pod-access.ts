/**
 * Access of node agents to Nodes and Pods (`AuthorizeNodeWithSelectors`): an agent may read only its own Node and the
 * pods on it, and may list pods only with a field selector that selects its node. The admission plugin NodeRestriction
 * checks writes.
 */
import { allow, type Decision, noOpinion, type ResourceAttributes } from '../authorizer.ts'

/** Authorizes a request from the agent of `node`. */
export type NodeJudge = (node: string, attributes: ResourceAttributes) => Decision | Promise<Decision>

/** Leaves the decision to the next authorization mode, and explains why this mode does not allow the request. */
export function because(reason: string): Decision {
  return { verdict: 'no opinion', reason: () => reason }
}

/** Decides whether a node agent may make a request for a Node. */
export function nodeAccess(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion
  if (subresource !== '') return noOpinion
  if (['create', 'update', 'patch'].includes(verb)) return allow
  if (!['get', 'list', 'watch'].includes(verb)) return noOpinion
  if (name === node) return allow
  const other = name === '' ? 'all nodes' : `'${name}'`
  return because(`node '${node}' cannot read ${other}, only its own Node object`)
}

/** Authorizes an agent's requests for Pods. `related` decides whether a pod is bound to the node. */
export function podAccess(related: NodeJudge): NodeJudge {
  return (node, attributes) => {
    const { verb, subresource } = attributes
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion
    if (subresource === 'eviction') return verb === 'create' ? allow : noOpinion
    if (subresource !== '') return noOpinion
    if (verb === 'create' || verb === 'delete') return allow
    if (verb === 'get') return related(node, attributes)
    return verb === 'list' || verb === 'watch' ? listedPods(node, attributes, related) : noOpinion
  }
}

function listedPods(node: string, attributes: ResourceAttributes, related: NodeJudge): Decision | Promise<Decision> {
  if (selectsNode(node, attributes)) return allow
  if (attributes.name !== '') return related(node, attributes)
  return because('can only list/watch pods with spec.nodeName field selector')
}

/** Whether the field selector `spec.nodeName` limits a request to objects on the node. */
export function selectsNode(node: string, { selectors }: ResourceAttributes): boolean {
  const fields = selectors?.().fields ?? []
  return fields.some(({ path, equal, value }) => path === 'spec.nodeName' && equal && value === node)
}
