/**
 * Connects this server to nodes and pods. Nodes in this process are found in the list of local nodes
 * (`cluster/node-port/local-nodes.ts`). Other nodes are contacted at the addresses in their status, except for
 * addresses of this machine. The server trusts no other field in the status.
 */
import { isIP } from 'node:net'
import type { Node } from '../../api/kinds/core/node.ts'
import { node as nodes } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { ApiError, badRequest, notFound, timeout, tooManyRequests } from '../../api/model/api-error.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { nodeUserPrefix } from '../../api/model/user.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { Destination } from '../outbound/connections.ts'
import { type Credentials, noCredentials } from '../outbound/credentials.ts'
import type { HttpsRelay } from '../outbound/https-relay.ts'
import type { ProxyErrors } from '../outbound/proxy-target.ts'
import { type AddressPolicy, notAllowed } from './allowed-address.ts'

export interface NodeConnectorParts {
  readonly lookup: Lookup
  readonly relay: HttpsRelay
  readonly localNodes: LocalNodes
  /** Returns the CA certificates and credentials for mutual authentication between this server and the node agents. */
  readonly trust: () => Promise<AgentTrust>
  /** Returns the CA certificates and credentials for nodes of this process, regardless of flags. */
  readonly localTrust: () => Promise<AgentTrust>
  /** Whether a node agent's certificate must be for its own node (common name `system:node:NAME`). */
  readonly requiresNodeSubject: boolean
  /** The types of node addresses, in order of preference. */
  readonly addressTypes: readonly string[]
  /** Maximum time in milliseconds until the response of a node or pod starts. */
  readonly timeoutMs: number
  /** Decides which addresses of nodes and pods the server may connect to. */
  readonly addresses: AddressPolicy
}

/** The CA certificates and credentials for mutual authentication between this server and the node agents. */
export interface AgentTrust {
  /** The CA certificates that sign the certificates of node agents, in PEM format. */
  readonly authority: string
  /** The credentials that this server presents to node agents. */
  readonly credentials: Credentials
}

const defaultAgentPort = 10250
/**
 * Maximum number of idle connections to an agent. The number is low because users can make the server connect to many
 * agents.
 */
const maxIdle = 2

/** A port of a pod or node, and the URL scheme to use. */
export interface Target {
  /** The URL scheme: `http` or `https`. Empty means `http`. */
  readonly scheme: string
  readonly port: number
}

/** Determines how to connect to nodes and pods: the address, the TLS settings and the credentials. */
export class NodeConnector {
  readonly relay: HttpsRelay
  readonly timeoutMs: number
  readonly #parts: NodeConnectorParts

  constructor(parts: NodeConnectorParts) {
    this.#parts = parts
    this.relay = parts.relay
    this.timeoutMs = parts.timeoutMs
  }

  /**
   * Returns the latest state of a Node. If the Node does not exist, throws a 404 that names the resource type `plural`.
   */
  async node(name: string, plural: 'nodes' | 'pods' = 'nodes'): Promise<Node> {
    const storedNode = await this.#parts.lookup.getLatest(nodes, { namespace: '', name })
    if (storedNode === undefined) throw notFound({ group: '', plural }, name)
    return storedNode.object
  }

  /** Returns the destination for requests to a node's agent. */
  async toAgent(node: Node): Promise<Destination> {
    const { localNodes, trust, localTrust, requiresNodeSubject } = this.#parts
    const { name = '' } = node.metadata
    const commonName = `${nodeUserPrefix}${name}`
    const local = localNodes.find(name)
    if (local !== undefined) {
      const { host, port } = local
      return { host, port, serverName: name, hostHeader: name, commonName, maxIdle, ...(await localTrust()) }
    }
    const port = agentPort(node)
    const { host, address } = await this.#reachable(node, port)
    const named = { serverName: host, hostHeader: hostHeader(host, port), ...(requiresNodeSubject && { commonName }) }
    return { host: address, port, ...named, maxIdle, ...(await trust()) }
  }

  /** Returns the destination for requests to a port of a node other than the agent's port. */
  async toNode(node: Node, target: Target): Promise<Destination> {
    if (this.#parts.localNodes.find(node.metadata.name ?? '') !== undefined)
      throw new CallError('connection', 'a simulated node has no other ports')
    const { host, address } = await this.#reachable(node, target.port)
    return { ...bare(address, target), hostHeader: hostHeader(host, target.port) }
  }

  /**
   * Returns the destination for requests to a port of a pod. Throws an error if the pod has no address or the address
   * is not allowed.
   */
  toPod(pod: Pod, target: Target): Destination {
    const { name = '', namespace = '' } = pod.metadata
    const { status, spec } = pod
    const address = status?.podIPs?.[0]?.ip ?? ''
    const { localNodes, addresses } = this.#parts
    if (isIP(address) === 0) throw badRequest('address not allowed: the pod has no IP address')
    const destination = bare(address, target)
    const local = localNodes.find(spec?.nodeName ?? '')
    if (local === undefined && !addresses.isAllowed(address, target.port)) throw badRequest(notAllowed)
    if (local === undefined) return destination
    if (target.scheme === 'https') throw new CallError('connection', 'a simulated pod does not support TLS')
    return { ...destination, plain: () => local.connect({ namespace, name }, target.port) }
  }

  /** Returns the first allowed address of a node, in the order of preference. */
  async #reachable({ status }: Node, port: number): Promise<{ host: string; address: string }> {
    const { addressTypes, addresses } = this.#parts
    const nodeAddresses = status?.addresses ?? []
    const hosts = addressTypes.flatMap((type) => nodeAddresses.filter((each) => each.type === type))
    let fault = new CallError('connection', 'no preferred addresses found')
    for (const { address: host = '' } of hosts) {
      try {
        return { host, address: await addresses.resolve(host, port) }
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        fault = error
      }
    }
    throw fault
  }
}

/** Returns the port on which a node's agent listens, according to the node's status. */
export function agentPort({ status }: Node): number {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultAgentPort
}

/**
 * Returns a destination to which the server sends no credentials. The destination's certificate is not verified,
 * because the programs that listen on the port belong to users.
 */
function bare(address: string, { scheme, port }: Target): Destination {
  const named = { host: address, port, serverName: address, hostHeader: hostHeader(address, port) }
  const anybody = { ...named, authority: undefined, credentials: noCredentials }
  return scheme === 'https' ? { ...anybody, isUnverified: true } : { ...anybody, plain: 'tcp' }
}

function hostHeader(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Returns the error responses for a node agent that does not respond or cannot be reached. */
export function agentErrors(node: string): ProxyErrors {
  return {
    noAnswer: ({ fault, message }) =>
      fault === 'timeout'
        ? timeout(`the agent on node "${node}" returned ${message}`)
        : new ApiError(500, 'InternalError', `error dialing backend: the agent on node "${node}": ${message}`),
    busy: () => tooManyRequests(`too many requests to node "${node}" are in progress; try again`),
    unusable: (why) => new ApiError(502, 'InternalError', `cannot use the agent on node "${node}": ${why}`),
  }
}

/** Returns the error responses for a pod or service that does not respond or cannot be reached. */
export function proxyErrors(what: string): ProxyErrors {
  return {
    noAnswer: ({ fault, message }) =>
      fault === 'timeout'
        ? timeout(`${what} returned ${message}`)
        : new ApiError(503, 'ServiceUnavailable', `error trying to reach service: ${what}: ${message}`),
    busy: () => tooManyRequests(`too many requests to ${what} are in progress; try again`),
    unusable: (why) => new ApiError(502, 'InternalError', `cannot use ${what}: ${why}`),
  }
}
