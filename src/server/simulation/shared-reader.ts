/**
 * The requests of the simulation thread that no node agent may send. The thread reads all nodes, pods, simulation rules
 * and objects of KWOK's kinds, because its informers serve all of its nodes. It also writes the status of objects of
 * KWOK's kinds, and changes finalizers. In Kubernetes 1.32 and later, node agents may not read all nodes and pods. All
 * other requests are rejected before they reach the server.
 */
import { isObject, type JsonObject } from '../../api/json/json.ts'
import { superusers, type User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import { orAborted } from '../../base/concurrency/abort.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'
import type { Transport } from '../../client/requests/transport.ts'
import { kwokKinds, kwokPath, kwokType } from '../../cluster/nodes/kwok/kinds.ts'

/** Name that identifies the shared reader in place of a node name. No node can have this name. */
export const sharedReader = ''

/** The user of the reader, for the audit log. Its permissions are limited by `readsSimulatedState`. */
export const sharedReaderUser: User = {
  name: 'system:simulated-nodes',
  uid: '',
  groups: [superusers],
  extra: new Map(),
}

/** Reports the state of KWOK's kinds on the server. */
export interface KwokState {
  /** Resolves when the server serves the kinds. */
  readonly installed: Promise<void>
  /** Resolves when an object of a kind is stored, or when the signal aborts. */
  readonly whenUsed: (type: ResourceType, signal: AbortSignal) => Promise<void>
}

/**
 * Maximum time in milliseconds for which a watch of a kind without objects waits. The limit is needed in case a
 * definition is deleted and recreated.
 */
const maxIdleMs = 240_000

/**
 * Returns a transport that only lists and watches nodes, pods, simulation rules and the objects of KWOK's kinds. A watch
 * of a KWOK kind starts when the first object of the kind is stored, because most of the kinds are never used.
 */
export function readsSimulatedState(transport: Transport, vendor: Vendor, kwok: KwokState): Transport {
  const paths = ['/api/v1/nodes', '/api/v1/pods', `/apis/${groupName(vendor, 'ops')}/v1/simulationrules`]
  const kwokTypes = new Map(Object.values(kwokKinds).map((kind) => [kwokPath(kind), kwokType(kind)]))
  return async (request) => {
    const { method, signal } = request
    const [path = '', query] = request.path.split('?', 2)
    const kwokKind = kwokTypes.get(path)
    if (method !== 'GET' || !(paths.includes(path) || kwokKind !== undefined))
      throw new Error("the informers of simulated nodes may only read nodes, pods, simulation rules and KWOK's objects")
    if (kwokKind !== undefined) {
      // Wait until KWOK's kinds are served, because earlier list requests would fail.
      await orAborted(kwok.installed, signal)
      if (new URLSearchParams(query).get('watch') === 'true')
        await kwok.whenUsed(kwokKind, AbortSignal.any([signal, AbortSignal.timeout(maxIdleMs)]))
    }
    return await transport(request)
  }
}

/** Name that identifies the writer of KWOK objects' status in place of a node name. No node can have this name. */
export const kwokStatusWriter = '/kwok-status'

/** Returns a transport that only replaces the status of objects of KWOK's kinds. */
export function writesKwokStatus(transport: Transport): Transport {
  const paths = new Set(Object.values(kwokKinds).map(kwokPath))
  return async (request) => {
    const [path = ''] = request.path.split('?', 1)
    const collection = path.replace(/\/namespaces\/[^/]+/, '').match(/^(.*)\/[^/]+\/status$/)?.[1] ?? ''
    if (request.method !== 'PUT' || !paths.has(collection))
      throw new Error("the report of simulated nodes may only replace the status of KWOK's objects")
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
