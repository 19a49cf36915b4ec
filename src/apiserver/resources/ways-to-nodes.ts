/**
 * The ways from this server to nodes and pods. A node that runs in this process is reached where the list of such nodes
 * says (`cluster/node-port/local-nodes.ts`); any other where its status says, if that leads away from this machine. What a status
 * says is never believed beyond that.
 */
import { isIP } from 'node:net'
import type { Node } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { nodes } from '../../api/kinds/stored-types.ts'
import { ApiError, badRequest, notFound, timeout, tooManyRequests } from '../../api/model/api-error.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { nodeUserPrefix } from '../../api/model/user.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import { CallError } from '../outbound/call-error.ts'
import type { Destination } from '../outbound/connections.ts'
import { type Credentials, noCredentials } from '../outbound/credentials.ts'
import type { HttpsRelay } from '../outbound/https-relay.ts'
import type { PassageErrors } from '../outbound/passage.ts'
import { type AddressPolicy, notAllowed } from './allowed-address.ts'

export interface WayParts {
  readonly lookup: Lookup
  readonly relay: HttpsRelay
  readonly localNodes: LocalNodes
  /** How this server and the agents of nodes know each other. */
  readonly trust: () => Promise<AgentTrust>
  /** The same for nodes of this process, whatever flags say about others. */
  readonly localTrust: () => Promise<AgentTrust>
  /** Whether the certificate of an agent must name its node. */
  readonly requiresNodeSubject: boolean
  /** Types of addresses of nodes, the preferred first. */
  readonly addressTypes: readonly string[]
  /** How long the beginning of a node's answer may take. */
  readonly timeoutMs: number
  /** Which addresses may be connected to. */
  readonly addresses: AddressPolicy
}

/** How this server and the agents of nodes know each other. */
export interface AgentTrust {
  /** The authorities that may vouch for agents, as PEM. */
  readonly authority: string
  /** As whom this server comes to agents. */
  readonly credentials: Credentials
}

const defaultAgentPort = 10250

/** Where a request to a pod or a node goes besides: how it is spoken to. */
export interface Target {
  /** `http`, `https`, or '' for the first. */
  readonly scheme: string
  readonly port: number
}

/** Finds where nodes and pods are connected to. */
export class WaysToNodes {
  readonly relay: HttpsRelay
  readonly timeoutMs: number
  readonly #parts: WayParts

  constructor(parts: WayParts) {
    this.#parts = parts
    this.relay = parts.relay
    this.timeoutMs = parts.timeoutMs
  }

  /** The Node, as recent as the caller needs it. Throws a 404 of this type of object. */
  async node(name: string, plural: 'nodes' | 'pods' = 'nodes'): Promise<Node> {
    const found = await this.#parts.lookup.getLatest(nodes, { namespace: '', name })
    if (found === undefined) throw notFound({ group: '', plural }, name)
    return found.object
  }

  /** The agent of a node. */
  async toAgent(node: Node): Promise<Destination> {
    const { localNodes, trust, localTrust, requiresNodeSubject } = this.#parts
    const { name = '' } = node.metadata
    const commonName = `${nodeUserPrefix}${name}`
    const local = localNodes.find(name)
    if (local !== undefined) {
      const { host, port } = local
      return { host, port, serverName: name, hostHeader: name, commonName, ...(await localTrust()) }
    }
    const port = agentPort(node)
    const { host, address } = await this.#reachable(node, port)
    const named = requiresNodeSubject ? { commonName } : {}
    return { host: address, port, serverName: host, hostHeader: hostHeader(host, port), ...named, ...(await trust()) }
  }

  /** Any other port of a node's machine. */
  async toNode(node: Node, target: Target): Promise<Destination> {
    if (this.#parts.localNodes.find(node.metadata.name ?? '') !== undefined)
      throw new CallError('connection', 'a simulated node has no other ports')
    const { host, address } = await this.#reachable(node, target.port)
    return { ...bare(address, target), hostHeader: hostHeader(host, target.port) }
  }

  /** A port of a pod. Throws where the pod has no address, or one that nobody is proxied to. */
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
    if (target.scheme === 'https') throw new CallError('connection', 'a simulated pod does not speak TLS')
    return { ...destination, plain: () => local.connect({ namespace, name }, target.port) }
  }

  /** The first address of the preferred types that can be reached. */
  async #reachable({ status }: Node, port: number): Promise<{ host: string; address: string }> {
    const { addressTypes, addresses } = this.#parts
    const known = status?.addresses ?? []
    const hosts = addressTypes.flatMap((type) => known.filter((each) => each.type === type))
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

/** The port of a node's agent. */
export function agentPort({ status }: Node): number {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultAgentPort
}

/** Without credentials: it may be anybody's. As what it serves is the user's own, its certificate is not verified. */
function bare(address: string, { scheme, port }: Target): Destination {
  const named = { host: address, port, serverName: address, hostHeader: hostHeader(address, port) }
  const anybody = { ...named, authority: undefined, credentials: noCredentials }
  return scheme === 'https' ? { ...anybody, isUnverified: true } : { ...anybody, plain: 'tcp' }
}

function hostHeader(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** What is answered where an agent could not be asked. */
export function agentErrors(node: string): PassageErrors {
  return {
    noAnswer: ({ fault, message }) =>
      fault === 'timeout'
        ? timeout(`the agent of node "${node}" gave ${message}`)
        : new ApiError(500, 'InternalError', `error dialing backend: the agent of node "${node}": ${message}`),
    busy: () => tooManyRequests(`too many requests to node "${node}" are under way; try again`),
    unusable: (why) => new ApiError(502, 'InternalError', `the agent of node "${node}" cannot be used: ${why}`),
  }
}

/** The same for pods and services. */
export function proxyErrors(what: string): PassageErrors {
  return {
    noAnswer: ({ fault, message }) =>
      fault === 'timeout'
        ? timeout(`${what} gave ${message}`)
        : new ApiError(503, 'ServiceUnavailable', `error trying to reach service: ${what}: ${message}`),
    busy: () => tooManyRequests(`too many requests to ${what} are under way; try again`),
    unusable: (why) => new ApiError(502, 'InternalError', `${what} cannot be used: ${why}`),
  }
}
