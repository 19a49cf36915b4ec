/** `services/proxy`: a way to one of the pods behind a Service. There is none yet; a Service without any says so. */
import type { Endpoints } from '../kinds/core/endpoints.ts'
import { service } from '../kinds/core/service.ts'
import { ApiError, notFound } from '../model/api-error.ts'
import type { Lookup } from '../model/lookup.ts'
import type { ApiObject } from '../model/object.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName } from './proxied-name.ts'
import { unreachable } from './unreachable.ts'

const services = { group: 'core', plural: 'services' }
const endpoints = { group: 'core', plural: 'endpoints' }

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
      answer: async (request) => {
        const place = { namespace: request.namespace, name: proxiedName(request.name, 'service') }
        if ((await lookup.recent(services, place)) === undefined)
          throw notFound({ group: '', plural: 'services' }, place.name)
        throw hasAddress(lookup, place) ? unreachable(`service "${place.name}"`) : empty(place.name)
      },
    },
  ]
}

function hasAddress(lookup: Lookup, place: { namespace: string; name: string }): boolean {
  const found = lookup.known(endpoints, place)?.object as (Endpoints & ApiObject) | undefined
  return found?.subsets?.some(({ addresses = [] }) => addresses.length > 0) ?? false
}

function empty(name: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', `no endpoints available for service "${name}"`)
}
