/**
 * `pods/exec`, `attach`, `portforward` and `proxy`: ways into a pod. All that can be said without its node is said: which
 * pod, which container, whether it is on a node; then that the node cannot be reached.
 */
import { type Pod, pod } from '../kinds/core/pod.ts'
import { nodes, pods } from '../kinds/stored-types.ts'
import { badRequest, notFound } from '../model/api-error.ts'
import type { Lookup } from '../model/lookup.ts'
import type { Verb } from '../model/verb.ts'
import type { Connection, Endpoint, EndpointRequest } from '../registry/endpoint.ts'
import { chooseContainer, nodeOf } from './pod-log.ts'
import { proxiedName } from './proxied-name.ts'
import { unreachable } from './unreachable.ts'

/** As Statuses name them. */
const podsRef = { group: '', plural: 'pods' }
const nodesRef = { group: '', plural: 'nodes' }

const streams = { stdin: 'flag', stdout: 'flag', stderr: 'flag', tty: 'flag', container: 'text' } as const

export function podConnections(lookup: Lookup): Endpoint[] {
  const attach = way('attach', 'Attaches to a container of a Pod.', { kind: 'PodAttachOptions', options: streams })
  const exec = way('exec', 'Runs a command in a container of a Pod.', {
    kind: 'PodExecOptions',
    options: { ...streams, command: 'texts' },
  })
  const forward = way('portforward', 'Forwards ports of a Pod.', {
    kind: 'PodPortForwardOptions',
    options: { ports: 'numbers' },
  })
  const proxy = way('proxy', 'Passes a request on to a Pod.', {
    kind: 'PodProxyOptions',
    options: { path: 'text' },
    takesPath: true,
  })
  return [
    { ...attach, answer: (request) => intoContainer(lookup, request) },
    { ...exec, answer: (request) => intoContainer(lookup, request) },
    { ...forward, answer: (request) => intoPod(lookup, request) },
    { ...proxy, verbs: proxied, answer: (request) => throughProxy(lookup, request) },
  ]
}

const opened: readonly Verb[] = ['create', 'get']
/** A request of any method can be passed on. */
export const proxied: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update']

function way(subresource: string, doc: string, connects: Connection): Omit<Endpoint, 'answer'> {
  return { kind: pod, subresource, verbs: opened, type: undefined, admits: 'CONNECT', connects, doc }
}

async function findPod(lookup: Lookup, { namespace, name }: { namespace: string; name: string }): Promise<Pod> {
  const found = await lookup.getLatest(pods, { namespace, name })
  if (found === undefined) throw notFound(podsRef, name)
  return found.object
}

async function intoContainer(lookup: Lookup, request: EndpointRequest): Promise<never> {
  const object = await findPod(lookup, request)
  chooseContainer(object, request.query.get('container') ?? '')
  throw noWayInto(lookup, object)
}

async function intoPod(lookup: Lookup, request: EndpointRequest): Promise<never> {
  throw noWayInto(lookup, await findPod(lookup, request))
}

function noWayInto(lookup: Lookup, object: Pod): Error {
  const node = nodeOf(object)
  if (node === '') return badRequest(`pod ${object.metadata.name} does not have a host assigned`)
  const known = lookup.getCached(nodes, { namespace: '', name: node })
  return known === undefined ? notFound(nodesRef, node) : unreachable(`node "${node}"`)
}

async function throughProxy(lookup: Lookup, { namespace, name }: EndpointRequest): Promise<never> {
  const object = await findPod(lookup, { namespace, name: proxiedName(name, 'pod') })
  const { status } = object
  if (!status?.podIP) throw badRequest(`pod ${object.metadata.name} has no address`)
  throw unreachable(`pod "${object.metadata.name}"`)
}
