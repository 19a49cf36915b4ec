/**
 * The requests of the simulation thread that no node agent may send: reading all nodes, pods, simulation rules and
 * objects of KWOK's kinds, for informers that serve all nodes in the thread, and changing finalizers. In Kubernetes
 * 1.32 and later, node agents may not read all nodes and pods. All other requests are rejected before they reach the
 * server.
 */
import { isObject, type JsonObject } from '../../api/json/json.ts'
import { superusers, type User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import { orAborted } from '../../base/concurrency/abort.ts'
import type { Transport } from '../../client/requests/transport.ts'
import { kwokKinds, kwokPath } from '../../cluster/nodes/kwok/kinds.ts'

/** Name that identifies the shared reader in place of a node name. No node can have this name. */
export const sharedReader = ''

/** The user of the reader, for the audit log. Its permissions are limited by `readsSimulatedState`. */
export const sharedReaderUser: User = {
  name: 'system:simulated-nodes',
  uid: '',
  groups: [superusers],
  extra: new Map(),
}

/** Returns a transport that only lists and watches nodes, pods, simulation rules and the objects of KWOK's kinds. */
export function readsSimulatedState(transport: Transport, vendor: Vendor, kwokInstalled: Promise<void>): Transport {
  const paths = ['/api/v1/nodes', '/api/v1/pods', `/apis/${groupName(vendor, 'ops')}/v1/simulationrules`]
  const kwokPaths = Object.values(kwokKinds).map(kwokPath)
  return async (request) => {
    const [path = ''] = request.path.split('?', 1)
    if (request.method !== 'GET' || !(paths.includes(path) || kwokPaths.includes(path)))
      throw new Error("the informers of simulated nodes may only read nodes, pods, simulation rules and KWOK's objects")
    // Wait until KWOK's kinds are served, because earlier list requests would fail.
    if (kwokPaths.includes(path)) await orAborted(kwokInstalled, request.signal)
    return await transport(request)
  }
}

/** Name that identifies the finalizer writer in place of a node name. No node can have this name. */
export const finalizerWriter = '/finalizers'

const podPath = /^\/api\/v1\/namespaces\/[^/?]+\/pods\/[^/?]+(?:\?|$)/
const maxFinalizerBytes = 64 * 1024

/**
 * Returns a transport that only changes the finalizers of pods, as stages do. The node agents of Kubernetes may not
 * change them.
 */
export function writesFinalizers(transport: Transport): Transport {
  return async (request) => {
    const { method, path, headers, body } = request
    const isMerge = headers['content-type'] === 'application/merge-patch+json'
    if (method !== 'PATCH' || !podPath.test(path) || !isMerge || !changesOnlyFinalizers(body))
      throw new Error('stages of simulated nodes may only change the finalizers of pods')
    return await transport(request)
  }
}

function changesOnlyFinalizers(body: Uint8Array | undefined): boolean {
  if (body === undefined || body.length > maxFinalizerBytes) return false
  const { metadata, ...others } = JSON.parse(Buffer.from(body).toString()) as JsonObject
  const fields = isObject(metadata) ? Object.keys(metadata) : ['']
  return Object.keys(others).length === 0 && fields.every((name) => name === 'resourceVersion' || name === 'finalizers')
}
