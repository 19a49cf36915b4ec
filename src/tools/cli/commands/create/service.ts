/** Implements `orchctl create service clusterip`, `nodeport`, `loadbalancer` and `externalname`. */

import { flag, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readCount } from '../../arguments/numbers.ts'
import { defineGenerator } from './generator.ts'

const tcp = repeated({
  name: 'tcp',
  value: 'PORT[:TARGET]',
  read: text,
  help: 'port of the service and, if different, the target port on the pods',
})

export const createClusterIpCommand = defineGenerator({
  name: 'service clusterip',
  about: 'Create a ClusterIP service, or a headless service with --clusterip=None.',
  examples: [
    'orchctl create service clusterip web --tcp=80:8080',
    'orchctl create service clusterip db --clusterip=None',
  ],
  flags: {
    tcp,
    clusterIp: flag({
      name: 'clusterip',
      value: 'IP',
      read: text,
      help: 'cluster IP of the service; None for a headless service',
    }),
  },
  type: kinds.Service,
  make: ({ tcp, clusterIp }, { name }) => {
    if (tcp.length === 0 && clusterIp !== 'None')
      throw new UsageError('at least one tcp port specifier must be provided')
    return serviceOf(name, { type: 'ClusterIP', ports: portsOf(tcp), ...(clusterIp && { clusterIP: clusterIp }) })
  },
})

export const createNodePortCommand = defineGenerator({
  name: 'service nodeport',
  about: 'Create a NodePort service, which also has a port on every node.',
  examples: ['orchctl create service nodeport web --tcp=80:8080'],
  flags: {
    tcp,
    nodePort: flag({
      name: 'node-port',
      value: 'PORT',
      default: '0',
      read: readCount,
      help: 'port on the nodes; with 0, the server assigns a free port',
    }),
  },
  type: kinds.Service,
  make: ({ tcp, nodePort }, { name }) => {
    const ports = requiredPorts(tcp).map((port) => ({ ...port, ...(nodePort > 0 && { nodePort }) }))
    return serviceOf(name, { type: 'NodePort', ports })
  },
})

export const createLoadBalancerCommand = defineGenerator({
  name: 'service loadbalancer',
  about: 'Create a service with an external load balancer.',
  examples: ['orchctl create service loadbalancer web --tcp=80:8080'],
  flags: { tcp },
  type: kinds.Service,
  make: ({ tcp }, { name }) => serviceOf(name, { type: 'LoadBalancer', ports: requiredPorts(tcp) }),
})

export const createExternalNameCommand = defineGenerator({
  name: 'service externalname',
  about: 'Create a service that is an alias for an external DNS name.',
  examples: ['orchctl create service externalname db --external-name=db.example.com'],
  flags: {
    tcp,
    externalName: flag({ name: 'external-name', value: 'NAME', read: text, help: 'external DNS name' }),
  },
  type: kinds.Service,
  make: ({ tcp, externalName }, { name }) => {
    if (externalName === '') throw new UsageError('required flag(s) "external-name" not set')
    return serviceOf(name, { type: 'ExternalName', externalName, ...(tcp.length > 0 && { ports: portsOf(tcp) }) })
  },
})

function serviceOf(name: string, spec: object): { metadata: object; spec: object } {
  return { metadata: { labels: { app: name } }, spec: { ...spec, selector: { app: name } } }
}

function requiredPorts(tcp: readonly string[]): { port: number }[] {
  if (tcp.length === 0) throw new UsageError('at least one tcp port specifier must be provided')
  return portsOf(tcp)
}

function portsOf(
  tcp: readonly string[],
): { name: string; port: number; protocol: string; targetPort: number | string }[] {
  return tcp
    .flatMap((each) => each.split(','))
    .map((each) => {
      const [port = '', target = port, ...more] = each.split(':')
      if (!/^\d{1,5}$/.test(port) || target === '' || more.length > 0)
        throw new UsageError(`--tcp: ${JSON.stringify(each)} must have the form PORT or PORT:TARGET`)
      const targetPort = /^\d+$/.test(target) ? Number(target) : target
      return { name: each.replace(':', '-'), port: Number(port), protocol: 'TCP', targetPort }
    })
}
