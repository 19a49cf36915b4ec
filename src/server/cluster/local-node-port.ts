/**
 * The port of the simulated nodes in this process. All nodes share one port, which listens only on the loopback
 * address. When a client first connects to a node, the serving certificate signer in this process creates the node's
 * certificate. The server can connect to the nodes from the time the returned promise resolves until the port is
 * closed.
 */

import { superusers, type User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { Client } from '../../client/requests/client.ts'
import { localNode } from '../../cluster/node-port/local-nodes.ts'
import { type NodePort, openNodePort } from '../../cluster/node-port/node-port.ts'
import type { NodeRuntime } from '../../cluster/node-port/runtime.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import { localNodeHost as host, servingCertificate } from '../certificates/node-serving-certificate.ts'

export interface LocalNodePortParts {
  readonly vendor: Vendor
  readonly nodes: readonly NodeRuntime[]
  /** Idle timeout of a stream in milliseconds. Defaults to four hours, as in the kubelet. */
  readonly idleMs?: number
}

type NodeServer = Pick<ApiServer, 'transport' | 'localNodes' | 'signingAuthority' | 'clock' | 'loopRecords'>

const hour = 60 * 60 * 1000
/** The user that sends token reviews and access reviews for clients of the port. */
const reviewer: User = { name: 'system:node-port', uid: '', groups: [superusers], extra: new Map() }

export async function openLocalNodePort(server: NodeServer, parts: LocalNodePortParts): Promise<NodePort> {
  const { vendor, nodes, idleMs = 4 * hour } = parts
  const { clock, localNodes, signingAuthority, loopRecords } = server
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const sole = nodes.length === 1 ? nodes[0] : undefined
  const opened = await openNodePort({
    host,
    port: 0,
    vendor,
    clock,
    idleMs,
    log: loopRecords.log,
    client: new Client(server.transport(reviewer), { userAgent: vendor.nodeAgent }),
    node: (name) => (name === '' ? sole : byName.get(name)),
    certificate: async (name) => servingCertificate(signingAuthority, name, clock.now()),
    clientAuthorities: () => signingAuthority.certificate,
  })
  const forget = nodes.map((runtime) => localNodes.add(localNode(runtime, { host, port: opened.port })))
  return {
    port: opened.port,
    close: async () => {
      for (const each of forget) each()
      await opened.close()
    },
  }
}
