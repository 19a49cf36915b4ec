/**
 * Connects clients to pods (`pods/exec`, `attach`, `portforward` and `proxy`). The server forwards the first three to
 * the agent of the pod's node, which exchanges data with the client over the upgraded connection. Proxied requests are
 * forwarded to the pod itself.
 */
import { type Pod, pod } from '../../api/kinds/core/pod.ts'
import { badRequest, notFound } from '../../api/model/api-error.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Verb } from '../../api/model/verb.ts'
import type { Gates } from '../../api/versions/feature-gates.ts'
import { ForwardRequest, type ProxyTarget } from '../outbound/proxy-target.ts'
import type { Connection, Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'
import { chooseContainer, nodeOf } from './choose-container.ts'
import { agentErrors, type NodeConnector, proxyErrors } from './node-connector.ts'
import { proxiedName, proxiedPort, proxiedScheme } from './proxied-name.ts'
import { passThroughProxy } from './proxied-requests.ts'

/** The resource name in error responses. */
const podsRef = { group: '', plural: 'pods' }

const streams = { stdin: 'flag', stdout: 'flag', stderr: 'flag', tty: 'flag', container: 'text' } as const

export function podConnections(lookup: Lookup, ways: NodeConnector, gates: Gates): Endpoint[] {
  const attach = way('attach', 'Attaches to a container in a Pod.', {
    kind: 'PodAttachOptions',
    options: streams,
    needsCreate: true,
  })
  const exec = way('exec', 'Runs a command in a container in a Pod.', {
    kind: 'PodExecOptions',
    options: { ...streams, command: 'texts' },
    needsCreate: true,
  })
  const forward = way('portforward', 'Forwards ports to a Pod.', {
    kind: 'PodPortForwardOptions',
    options: { ports: 'numbers' },
    needsCreate: true,
  })
  const proxy = way('proxy', 'Proxies a request to a Pod.', {
    kind: 'PodProxyOptions',
    options: { path: 'text' },
    takesPath: true,
  })
  const means = { lookup, ways, gates }
  return [
    { ...attach, answer: (request) => intoContainer(means, request, 'attach') },
    { ...exec, answer: (request) => intoContainer(means, request, 'exec') },
    { ...forward, answer: (request) => toPorts(means, request) },
    { ...proxy, verbs: proxied, answer: (request) => throughProxy(means, request) },
  ]
}

interface Means {
  readonly lookup: Lookup
  readonly gates: Gates
  readonly ways: NodeConnector
}

const opened: readonly Verb[] = ['create', 'get']
/** Verbs of proxied requests, which together cover all HTTP methods. */
export const proxied: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update']

function way(subresource: string, doc: string, connects: Connection): Omit<Endpoint, 'answer'> {
  return { kind: pod, subresource, verbs: opened, type: undefined, admits: 'CONNECT', connects, doc }
}

async function findPod({ lookup }: Means, { namespace, name }: { namespace: string; name: string }): Promise<Pod> {
  const storedPod = await lookup.getLatest(pod, { namespace, name })
  if (storedPod === undefined) throw notFound(podsRef, name)
  return storedPod.object
}

/** The parameters of exec and attach, under the names that node agents use. */
type CommandOptions = ApiObject & {
  readonly stdin?: boolean
  readonly stdout?: boolean
  readonly stderr?: boolean
  readonly tty?: boolean
  readonly container?: string
  readonly command?: readonly string[]
}

async function intoContainer(
  means: Means,
  request: EndpointRequest,
  action: 'exec' | 'attach',
): Promise<ForwardRequest> {
  const object = await findPod(means, request)
  const options = request.object as CommandOptions
  const container = chooseContainer(object, options.container ?? '')
  const flags = { input: options.stdin, output: options.stdout, error: options.stderr, tty: options.tty }
  const query = new URLSearchParams(Object.entries(flags).flatMap(([name, is]) => (is ? [[name, '1']] : [])))
  for (const word of options.command ?? []) query.append('command', word)
  const place = [request.namespace, request.name, container].map(encodeURIComponent).join('/')
  const target = await agentTarget(means, object, `/${action}/${place}?${query}`)
  if (!means.gates.has('TranslateStreamCloseWebsocketRequests')) return new ForwardRequest(target)
  const { stdin = false, stdout = false, stderr = false, tty = false } = options
  const command = { stdin, stdout, stderr, tty }
  return new ForwardRequest({ ...target, spdyBackend: { protocol: 'v4.channel.k8s.io', command } })
}

async function toPorts(means: Means, request: EndpointRequest): Promise<ForwardRequest> {
  const object = await findPod(means, request)
  const { ports = [] } = request.object as ApiObject & { ports?: readonly number[] }
  const query = ports.length === 0 ? '' : `?port=${ports.join(',')}`
  const place = [request.namespace, request.name].map(encodeURIComponent).join('/')
  const target = await agentTarget(means, object, `/portForward/${place}${query}`)
  const hasTunnels = means.gates.has('PortForwardWebsockets')
  return new ForwardRequest({ ...target, ...(hasTunnels && { spdyBackend: { protocol: 'portforward.k8s.io' } }) })
}

async function agentTarget({ ways }: Means, object: Pod, path: string): Promise<ProxyTarget> {
  const nodeName = nodeOf(object)
  if (nodeName === '') throw badRequest(`pod ${object.metadata.name} does not have a host assigned`)
  const node = await ways.node(nodeName)
  return {
    to: `node ${nodeName}`,
    relay: ways.relay,
    path,
    timeoutMs: ways.timeoutMs,
    destination: () => ways.toAgent(node),
    sendsUser: false,
    mustSwitch: true,
    errors: agentErrors(nodeName),
  }
}

async function throughProxy(means: Means, request: EndpointRequest): Promise<ForwardRequest> {
  const { namespace, name: asked } = request
  const object = await findPod(means, { namespace, name: proxiedName(asked, 'pod') })
  const scheme = proxiedScheme(asked)
  const port = portOf(object, proxiedPort(asked)) ?? (scheme === 'https' ? 443 : 80)
  const { ways } = means
  const destination = () => ways.toPod(object, { scheme, port })
  const { name } = object.metadata
  const to = `pod ${namespace}/${name}`
  return passThroughProxy(request, { ways, to, destination, errors: proxyErrors(`pod "${name}"`) })
}

/**
 * Parses the port of a proxied request. Without a port, returns the first container port of the pod. Throws 400 if the
 * port is not a number.
 */
function portOf({ spec }: Pod, asked: string): number | undefined {
  if (asked === '') return spec?.containers?.flatMap(({ ports = [] }) => ports)[0]?.containerPort
  if (/^\d{1,5}$/.test(asked) && Number(asked) >= 1 && Number(asked) <= 0xffff) return Number(asked)
  throw badRequest(`invalid pod port ${JSON.stringify(asked.slice(0, 50))}: must be a number from 1 to 65535`)
}
