/**
 * `services/proxy`: a connection to one of the pods behind a Service. This server has no way to pods yet; a Service
 * without endpoints, or without a pod behind the port that is asked for, says so first.
 */
import type { Endpoints } from '../kinds/core/endpoints.ts'
import { service } from '../kinds/core/service.ts'
import { endpoints, pods, services } from '../kinds/stored-types.ts'
import { ApiError, notFound } from '../model/api-error.ts'
import type { Lookup } from '../model/lookup.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName, proxiedPort } from './proxied-name.ts'
import { unreachable } from './unreachable.ts'

export function serviceConnections(lookup: Lookup): Endpoint[] {
  return [
    {
      kind: service,
      subresource: 'proxy',
      verbs: proxied,
      type: undefined,
      admits: 'CONNECT',
      connects: { kind: 'ServiceProxyOptions', options: { path: 'text' }, takesPath: true },
      doc: 'Passes a request on to a Pod behind a Service.',
      answer: async ({ namespace, name: asked }) => {
        const place = { namespace, name: proxiedName(asked, 'service') }
        const port = await portName(lookup, place, proxiedPort(asked))
        const found = await lookup.getLatest(endpoints, place)
        if (found === undefined) throw notFound({ group: '', plural: 'endpoints' }, place.name)
        const { subsets = [] } = found.object
        const leads = subsets.some((subset) => hasPort(subset, port) && leadsToPod(lookup, namespace, subset))
        throw leads ? unreachable(`service "${place.name}"`) : empty(subsets.length === 0 ? place.name : asked)
      },
    },
  ]
}

interface Place {
  readonly namespace: string
  readonly name: string
}

/** Endpoints know ports by name: a number is looked up in the Service. */
async function portName(lookup: Lookup, place: Place, port: string): Promise<string> {
  if (!/^[0-9]+$/.test(port)) return port
  const found = await lookup.getLatest(services, place)
  if (found === undefined) throw notFound({ group: '', plural: 'services' }, place.name)
  const { ports = [] } = found.object.spec ?? {}
  const known = ports.find((each) => String(each.port) === port)
  if (known === undefined) throw unavailable(`no service port ${port} found for service "${place.name}"`)
  return known.name ?? ''
}

type Subset = NonNullable<Endpoints['subsets']>[number]

function hasPort({ ports = [] }: Subset, port: string): boolean {
  return ports.some(({ name = '' }) => name === port)
}

/** Addresses that are not those of pods of the namespace are not connected to: anything might be there. */
function leadsToPod(lookup: Lookup, namespace: string, { addresses = [] }: Subset): boolean {
  return addresses.some(({ ip, targetRef }) => {
    if (targetRef?.kind !== 'Pod' || targetRef.namespace !== namespace) return false
    const pod = lookup.getCached(pods, { namespace, name: targetRef.name ?? '' })?.object
    return pod?.status?.podIPs?.some((each) => each.ip === ip) ?? false
  })
}

function empty(name: string): ApiError {
  return unavailable(`no endpoints available for service "${name}"`)
}

function unavailable(message: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message)
}
