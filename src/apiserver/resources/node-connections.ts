/**
 * Proxies a request to a node's agent with the credentials of this server, or to another port of the node
 * (`nodes/proxy`).
 */
import { node } from '../../api/kinds/core/node.ts'
import { badRequest } from '../../api/model/api-error.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { agentErrors, agentPort, type NodeConnector, proxyErrors } from './node-connector.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName, proxiedPort, proxiedScheme } from './proxied-name.ts'
import { passThroughProxy } from './proxied-requests.ts'

export function nodeConnections(ways: NodeConnector): Endpoint[] {
  return [
    {
      kind: node,
      subresource: 'proxy',
      verbs: proxied,
      type: undefined,
      admits: 'CONNECT',
      connects: { kind: 'NodeProxyOptions', options: { path: 'text' }, takesPath: true },
      doc: "Proxies a request to a Node's agent.",
      answer: async (request) => {
        const name = proxiedName(request.name, 'node')
        const storedNode = await ways.node(name)
        const requestedPort = proxiedPort(request.name)
        if (requestedPort === '' || requestedPort === String(agentPort(storedNode)))
          return passThroughProxy(request, {
            ways,
            to: `node ${name}`,
            destination: () => ways.toAgent(storedNode),
            errors: agentErrors(name),
          })
        if (!/^\d{1,5}$/.test(requestedPort) || Number(requestedPort) > 0xffff)
          throw badRequest(`invalid node request: port ${requestedPort}`)
        const target = { scheme: proxiedScheme(request.name), port: Number(requestedPort) }
        const destination = () => ways.toNode(storedNode, target)
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
