/** Proxies a request to a randomly chosen pod of a Service (`services/proxy`). */
import type { Endpoints } from '../../api/kinds/core/endpoints.ts'
import { endpoints } from '../../api/kinds/core/endpoints.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { pod as pods } from '../../api/kinds/core/pod.ts'
import { service } from '../../api/kinds/core/service.ts'
import { ApiError, notFound } from '../../api/model/api-error.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { type NodeConnector, proxyErrors } from './node-connector.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName, proxiedPort, proxiedScheme } from './proxied-name.ts'
import { passThroughProxy } from './proxied-requests.ts'

export function serviceConnections(lookup: Lookup, ways: NodeConnector): Endpoint[] {
  return [
    {
      kind: service,
      subresource: 'proxy',
      verbs: proxied,
      type: undefined,
      admits: 'CONNECT',
      connects: { kind: 'ServiceProxyOptions', options: { path: 'text' }, takesPath: true },
      doc: 'Proxies a request to a Pod behind a Service.',
      answer: async (request) => {
        const { namespace, name: asked } = request
        const place = { namespace, name: proxiedName(asked, 'service') }
        const port = await portName(lookup, place, proxiedPort(asked))
        const storedEndpoints = await lookup.getLatest(endpoints, place)
        // As in Kubernetes, report that the Service is missing rather than its Endpoints.
        if (storedEndpoints === undefined) throw notFound({ group: '', plural: 'services' }, place.name)
        const { subsets = [] } = storedEndpoints.object
        const all = subsets.flatMap((subset) => podsBehind(lookup, { namespace, port }, subset))
        const chosen = all[Math.floor(Math.random() * all.length)]
        if (chosen === undefined) throw empty(subsets.length === 0 ? place.name : asked)
        const target = { scheme: proxiedScheme(asked), port: chosen.port }
        const destination = () => ways.toPod(chosen.pod, target)
        const to = `service ${namespace}/${place.name}`
        return passThroughProxy(request, { ways, to, destination, errors: proxyErrors(`service "${place.name}"`) })
      },
    },
  ]
}

interface Place {
  readonly namespace: string
  readonly name: string
}

/** Returns the name of a Service port that is given by name or number, because Endpoints refer to ports by name. */
async function portName(lookup: Lookup, place: Place, port: string): Promise<string> {
  if (!/^[0-9]+$/.test(port)) return port
  const storedEndpoints = await lookup.getLatest(service, place)
  if (storedEndpoints === undefined) throw notFound({ group: '', plural: 'services' }, place.name)
  const { ports = [] } = storedEndpoints.object.spec ?? {}
  const servicePort = ports.find((each) => String(each.port) === port)
  if (servicePort === undefined) throw unavailable(`no service port ${port} found for service "${place.name}"`)
  return servicePort.name ?? ''
}

type Subset = NonNullable<Endpoints['subsets']>[number]

interface PodBehind {
  readonly pod: Pod
  readonly port: number
}

interface WantedPort {
  readonly namespace: string
  /** The name of the port, or '' if it has none. */
  readonly port: string
}

/**
 * Returns the pods behind a port. Ignores addresses without a pod in the namespace, because any program could listen on
 * such an address.
 */
function podsBehind(lookup: Lookup, wantedPort: WantedPort, { addresses = [], ports = [] }: Subset): PodBehind[] {
  const port = ports.find(({ name = '' }) => name === wantedPort.port)?.port
  if (port === undefined) return []
  return addresses.flatMap(({ ip, targetRef }) => {
    if (targetRef?.kind !== 'Pod' || targetRef.namespace !== wantedPort.namespace) return []
    const storedEndpoints = lookup.getCached(pods, {
      namespace: wantedPort.namespace,
      name: targetRef.name ?? '',
    })?.object
    return storedEndpoints?.status?.podIPs?.[0]?.ip === ip && storedEndpoints !== undefined
      ? [{ pod: storedEndpoints, port }]
      : []
  })
}

function empty(name: string): ApiError {
  return unavailable(`no endpoints available for service "${name}"`)
}

function unavailable(message: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message)
}
