/** `nodes/proxy`: a way to the agent of a node. There is none yet, and that is said of nodes that are known. */
import { node } from '../kinds/core/node.ts'
import { nodes } from '../kinds/stored-types.ts'
import { notFound } from '../model/api-error.ts'
import type { Lookup } from '../model/lookup.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { proxied } from './pod-connections.ts'
import { proxiedName } from './proxied-name.ts'
import { unreachable } from './unreachable.ts'

export function nodeConnections(lookup: Lookup): Endpoint[] {
  return [
    {
      kind: node,
      subresource: 'proxy',
      verbs: proxied,
      type: undefined,
      admits: 'CONNECT',
      connects: { kind: 'NodeProxyOptions', options: { path: 'text' }, takesPath: true },
      doc: 'Passes a request on to the agent of a Node.',
      answer: async (request) => {
        const name = proxiedName(request.name, 'node')
        const found = await lookup.getLatest(nodes, { namespace: '', name })
        throw found === undefined ? notFound({ group: '', plural: 'nodes' }, name) : unreachable(`node "${name}"`)
      },
    },
  ]
}
