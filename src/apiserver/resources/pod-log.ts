/**
 * Returns the output of a container (`pods/log`). The server requests the output from the pod's node. A pod without a
 * node has no output. Errors from the node are returned as a Status.
 */
import { pod } from '../../api/kinds/core/pod.ts'
import { ApiError, badRequest, internalError, invalidObject, notFound } from '../../api/model/api-error.ts'
import { type FieldError, forbidden, invalid } from '../../api/model/field-error.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { ForwardRequest } from '../outbound/proxy-target.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { chooseContainer, nodeOf } from './choose-container.ts'
import { agentErrors, type NodeConnector } from './node-connector.ts'

/** The resource name in error responses. */
const podsRef = { group: '', plural: 'pods' }

export function podLog(lookup: Lookup, ways: NodeConnector): Endpoint {
  return {
    kind: pod,
    subresource: 'log',
    verbs: ['get'],
    type: undefined,
    admits: undefined,
    streamsText: true,
    doc: 'Returns the log of a container in a Pod.',
    answer: async ({ namespace, name, query }) => {
      const faults = checkOptions(query)
      const storedPod = await lookup.getLatest(pod, { namespace, name })
      if (storedPod === undefined) throw notFound(podsRef, name)
      if (faults.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, faults)
      const container = chooseContainer(storedPod.object, query.get('container') ?? '')
      const nodeName = nodeOf(storedPod.object)
      if (nodeName === '') return undefined
      const node = await ways.node(nodeName, 'pods')
      // As in Kubernetes, users who may read the log may skip the verification of the node's certificate.
      const isUnverified = ['true', '1'].includes(query.get('insecureSkipTLSVerifyBackend') ?? '')
      return new ForwardRequest({
        to: `node ${nodeName}`,
        relay: ways.relay,
        destination: async () => ({ ...(await ways.toAgent(node)), isUnverified }),
        path: `/containerLogs/${[namespace, name, container].map(encodeURIComponent).join('/')}${agentQuery(query)}`,
        sendsUser: false,
        timeoutMs: ways.timeoutMs,
        errors: agentErrors(nodeName),
        failure: (status, text) => refusalOf(name, status, text),
      })
    },
  }
}

/** Minimum values of the numeric log options. */
const least: { readonly [option: string]: number } = { tailLines: 0, limitBytes: 1, sinceSeconds: 1 }
const passed = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes']

/** Returns the URL query for the node agent, with the log options that the agent supports. */
function agentQuery(query: URLSearchParams): string {
  const parameters = passed.flatMap((option) => {
    const value = query.get(option) ?? ''
    return value === '' ? [] : [[option, value]]
  })
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`
}

/** Converts an error response of the node agent to the error for the client. */
function refusalOf(name: string, status: number, text: string): ApiError {
  if (status === 400) return badRequest(text)
  if (status === 500) return internalError(text)
  const details = { name, kind: 'pods' }
  const reason = status === 404 ? 'NotFound' : status === 401 ? 'Unauthorized' : status === 403 ? 'Forbidden' : ''
  return new ApiError(status, reason, `the node rejected the log request (${text})`, details)
}

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
