/**
 * Reads all nodes and pods for the simulation thread, whose informers serve all its nodes. Since Kubernetes 1.32 no node
 * agent may do that. Any other request is rejected before it reaches the server.
 */
import { superusers, type User } from '../../api/model/user.ts'
import type { Transport } from '../../client/requests/transport.ts'

/** Stands for the reader where requests name a node. No node has this name. */
export const sharedReader = ''

/** The user of the reader, for the audit log. Its permissions are limited by `readsNodesAndPods`. */
export const sharedReaderUser: User = {
  name: 'system:simulated-nodes',
  uid: '',
  groups: [superusers],
  extra: new Map(),
}

/** Returns a transport that only lists and watches nodes and pods. */
export function readsNodesAndPods(transport: Transport): Transport {
  return async (request) => {
    const [path] = request.path.split('?', 1)
    if (request.method !== 'GET' || (path !== '/api/v1/nodes' && path !== '/api/v1/pods'))
      throw new Error('the informers of simulated nodes may only read nodes and pods')
    return await transport(request)
  }
}
