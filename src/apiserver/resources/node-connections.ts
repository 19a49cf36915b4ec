/**
 * `nodes/proxy`: proxies a request to the agent of a node with the credentials of this server, or to another port of
 * the node.
 */
import { node } from '../../api/kinds/core/node.ts'
import { badRequest } from '../../api/model/api-error.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName, proxiedPort, proxiedScheme } from './proxied-name.ts'
import { passThroughProxy } from './proxied-requests.ts'
import { agentErrors, agentPort, proxyErrors, type WaysToNodes } from './ways-to-nodes.ts'

export function nodeConnections(ways: WaysToNodes): Endpoint[] {
  return [
    {
      kind: node,
      subresource: 'proxy',
      verbs: proxied,
      type: undefined,
      admits: 'CONNECT',
      connects: { kind: 'NodeProxyOptions', options: { path: 'text' }, takesPath: true },
      doc: 'Proxies a request to the agent of a Node.',
      answer: async (request) => {
        const name = proxiedName(request.name, 'node')
        const found = await ways.node(name)
        const asked = proxiedPort(request.name)
        if (asked === '' || asked === String(agentPort(found)))
          return passThroughProxy(request, {
            ways,
            to: `node ${name}`,
            destination: () => ways.toAgent(found),
            errors: agentErrors(name),
          })
        if (!/^\d{1,5}$/.test(asked) || Number(asked) > 0xffff) throw badRequest(`invalid node request: port ${asked}`)
        const target = { scheme: proxiedScheme(request.name), port: Number(asked) }
        const destination = () => ways.toNode(found, target)
        return passThroughProxy(request, {
          ways,
          to: `node ${name}`,
          destination,
          errors: proxyErrors(`node "${name}"`),
        })
      },
    },
  ]
}
