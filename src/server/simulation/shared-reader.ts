/**
 * Reads all nodes, pods and simulation rules for the simulation thread, whose informers serve all its nodes. In
 * Kubernetes 1.32 and later, no node agent may read all nodes and pods. All other requests are rejected before they
 * reach the server.
 */
import { superusers, type User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Transport } from '../../client/requests/transport.ts'

/** The name that the reader's requests contain instead of a node name. No node has this name. */
export const sharedReader = ''

/** The user of the reader, for the audit log. Its permissions are limited by `readsSimulatedState`. */
export const sharedReaderUser: User = {
  name: 'system:simulated-nodes',
  uid: '',
  groups: [superusers],
  extra: new Map(),
}

/** Returns a transport that only lists and watches nodes, pods and simulation rules. */
export function readsSimulatedState(transport: Transport, vendor: Vendor): Transport {
  const paths = ['/api/v1/nodes', '/api/v1/pods', `/apis/${groupName(vendor, 'ops')}/v1/simulationrules`]
  return async (request) => {
    const [path = ''] = request.path.split('?', 1)
    if (request.method !== 'GET' || !paths.includes(path))
      throw new Error('the informers of simulated nodes may only read nodes, pods and simulation rules')
    return await transport(request)
  }
}
