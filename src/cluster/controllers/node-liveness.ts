/**
 * Determines from the API whether a Node exists and its agent is alive. The agent sets its Ready condition to True or
 * False, and the nodelifecycle loop sets it to Unknown when the agent is silent. A recently renewed Lease also shows
 * that the agent is alive, because an agent may renew the Lease before it reports its first status.
 */

import type { Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { nodeLeaseNamespace } from './nodes/node-lifecycle.ts'

export interface LivenessParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
}

/** How long an agent may be silent before nodelifecycle considers it dead, in milliseconds. */
const minLeaseMs = 40_000

/**
 * Reads the Node and its Lease from the server and returns whether its agent is alive. Stale data could give the node's
 * identity to another machine.
 */
export async function isNodeAlive(parts: LivenessParts, name: string, signal: AbortSignal): Promise<boolean> {
  const { client, vendor } = parts
  const node = await ignoreNotFound(client.get(kinds.Node, { name }, { signal }))
  if (node === undefined) return false
  const ready = (node.status?.conditions ?? []).find(({ type }) => type === 'Ready')
  if (ready?.status === 'True' || ready?.status === 'False') return true
  const lease = await ignoreNotFound(
    client.get(inDomainOf(vendor, kinds.Lease), { namespace: nodeLeaseNamespace, name }, { signal }),
  )
  const { renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {}
  return parts.clock.now() - Date.parse(renewTime) < Math.max(minLeaseMs, leaseDurationSeconds * 1000)
}
