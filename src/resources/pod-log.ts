/**
 * `pods/log`: what a container has printed. A pod that is on no node has printed nothing. For any other its node would
 * have to be asked, to which there is no way yet; for a node that nobody knows it is a 404.
 */
import { type Pod, pod } from '../kinds/core/pod.ts'
import { nodes, pods } from '../kinds/stored-types.ts'
import { badRequest, invalidObject, notFound } from '../model/api-error.ts'
import { type FieldError, forbidden, invalid } from '../model/field-error.ts'
import type { Lookup } from '../model/lookup.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { unreachable } from './unreachable.ts'

/** As Statuses name them. */
const podsRef = { group: '', plural: 'pods' }

export function podLog(lookup: Lookup): Endpoint {
  return {
    kind: pod,
    subresource: 'log',
    verbs: ['get'],
    type: undefined,
    admits: undefined,
    doc: 'Reads what a container of a Pod has printed.',
    answer: async ({ namespace, name, query }) => {
      const faults = checkOptions(query)
      const found = await lookup.getLatest(pods, { namespace, name })
      if (found === undefined) throw notFound(podsRef, name)
      if (faults.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, faults)
      chooseContainer(found.object, query.get('container') ?? '')
      const node = nodeOf(found.object)
      if (node === '') return undefined
      throw lookup.getCached(nodes, { namespace: '', name: node })
        ? unreachable(`node "${node}"`)
        : notFound(podsRef, node)
    },
  }
}

/** What a number in the query may be at least. */
const least: { readonly [option: string]: number } = { tailLines: 0, limitBytes: 1, sinceSeconds: 1 }

function checkOptions(query: URLSearchParams): FieldError[] {
  const numbers = Object.entries(least).flatMap(([option, minimum]) => checkNumber(query, option, minimum))
  const twice = query.has('sinceSeconds') && query.has('sinceTime')
  return [
    ...numbers,
    ...(twice ? [forbidden('*', 'at most one of `sinceTime` or `sinceSeconds` may be specified')] : []),
  ]
}

function checkNumber(query: URLSearchParams, option: string, minimum: number): FieldError[] {
  const text = query.get(option)
  if (text === null || text === '') return []
  if (!/^-?\d{1,18}$/.test(text))
    throw badRequest(`${option} must be a whole number, not ${JSON.stringify(text.slice(0, 50))}`)
  const rule = minimum === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0'
  return Number(text) >= minimum ? [] : [invalid(option, Number(text), rule)]
}

/** The node that a pod is on; '' before it is on any. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? ''
}

/** A pod with several containers must be asked for one of them. */
export function chooseContainer(object: Pod, wanted: string): void {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = object.spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  const { name } = object.metadata
  if (wanted === '' && names.length !== 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  if (wanted !== '' && !names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`)
}
