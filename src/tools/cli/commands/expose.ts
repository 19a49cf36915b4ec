/** Implements `orchctl expose`, which creates a service for the pods of a workload or service, or for a single pod. */

import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, oneOf, text, UsageError } from '../../../base/flags/flags.ts'
import { readPairs } from '../arguments/pairs.ts'
import { fileFlags, findSubjects, type Subject } from '../arguments/subjects.ts'
import { recordFlag } from '../changes/change-cause.ts'
import { liveOf } from '../changes/patch-command.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { overrideTypeFlag } from '../patches/override-type.ts'
import { readOverrides } from '../patches/overrides.ts'
import { defineCommand } from '../program/command.ts'
import { createObject, creationFlags } from './create/generator.ts'

const flags = {
  ...fileFlags,
  name: flag({ name: 'name', value: 'NAME', read: text, help: "name of the service; default: the object's name" }),
  port: flag({
    name: 'port',
    value: 'PORT,...',
    read: text,
    help: "ports of the service; default: the object's ports",
  }),
  targetPort: flag({
    name: 'target-port',
    value: 'PORT',
    read: text,
    help: 'container port number or name; default: the service port',
  }),
  protocol: flag({
    name: 'protocol',
    value: 'PROTOCOL',
    read: text,
    help: "protocol: TCP, UDP or SCTP; default: the protocol of the object's port, or TCP if the object has no such port",
  }),
  type: flag({
    name: 'type',
    value: 'TYPE',
    read: oneOf(['', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']),
    help: 'type of the service: ClusterIP, NodePort or LoadBalancer',
  }),
  clusterIp: flag({
    name: 'cluster-ip',
    value: 'IP',
    read: text,
    help: 'cluster IP of the service; None for a headless service',
  }),
  externalIp: flag({
    name: 'external-ip',
    value: 'IP,...',
    read: text,
    help: 'additional external IP addresses of the service',
  }),
  loadBalancerIp: flag({ name: 'load-balancer-ip', value: 'IP', read: text, help: 'IP address of the load balancer' }),
  sessionAffinity: flag({
    name: 'session-affinity',
    value: 'None|ClientIP',
    read: oneOf(['', 'None', 'ClientIP']),
    help: 'session affinity: None or ClientIP',
  }),
  selector: flag({
    name: 'selector',
    value: 'KEY=VALUE,...',
    read: text,
    help: "label selector for the pods; default: the object's selector",
  }),
  labels: flag({
    name: 'labels',
    letter: 'l',
    value: 'KEY=VALUE,...',
    read: text,
    help: "labels for the service; default: the object's labels",
  }),
  overrides: flag({
    name: 'overrides',
    value: 'JSON',
    read: text,
    help: 'patch for the service in JSON, such as {"spec": ...}',
  }),
  overrideType: overrideTypeFlag,
  generator: flag({
    name: 'generator',
    value: 'service/v1|service/v2',
    default: 'service/v2',
    read: oneOf(['service/v1', 'service/v2']),
    help: 'name of the generator, for compatibility with kubectl; with service/v1, a single port is named "default"',
  }),
  ...creationFlags,
  record: recordFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const exposeCommand = defineCommand({
  name: 'expose',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE) [--port=PORT] [flags]'],
  about: 'Expose a deployment, replica set, replication controller, pod or service as a service.',
  examples: [
    'orchctl expose deployment web --port=80 --target-port=8080',
    'orchctl expose pod web --port=80 --name=front --type=NodePort',
  ],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const subjectOptions = { ...options, selector: '', fieldSelector: '', all: false, allNamespaces: false }
      for (const [index, subject] of (await findSubjects(session, words, subjectOptions)).entries()) {
        const generatedService = await serviceFor(session, subject, options)
        const service = options.overrides === '' ? generatedService : await readOverrides(generatedService, options)
        context.out(await createObject(session, service, { options, done: 'exposed', index }))
      }
    })
  },
})

interface Port {
  readonly port: number
  readonly protocol?: string
}

interface PodSpec {
  containers?: { ports?: { containerPort: number; protocol?: string }[] }[]
}

interface Exposed extends ApiObject {
  spec?: PodSpec & {
    selector?: { matchLabels?: { [key: string]: string }; matchExpressions?: unknown[] }
    template?: { spec?: PodSpec }
    ports?: { port: number; protocol?: string }[]
  }
}

async function serviceFor(session: Session, subject: Subject, options: Options): Promise<ApiObject> {
  // Use the object from the file, if any, because the object may not exist on the server yet.
  const live: Exposed = subject.object ?? (await liveOf(session, subject))
  const ports = portsIn(live, subject)
  const selector = options.selector === '' ? selectorOf(live) : readPairs(options.selector, '--selector')
  if (Object.keys(selector).length === 0)
    throw new UsageError(
      `invalid ${live.kind.toLowerCase()}: no selectors, therefore cannot be exposed; use --selector`,
    )
  // Truncate a name taken from the object, because Service names are limited to 63 characters. The server validates a
  // name given by the user.
  const name = options.name || (live.metadata.name ?? '').slice(0, 63)
  const labels = options.labels === '' ? live.metadata.labels : readPairs(options.labels, '--labels')
  const spec = {
    ports: portsOf(ports, options),
    selector,
    ...(options.type && { type: options.type }),
    ...(options.clusterIp && { clusterIP: options.clusterIp }),
    ...(options.externalIp && { externalIPs: options.externalIp.split(',') }),
    ...(options.type === 'LoadBalancer' && options.loadBalancerIp && { loadBalancerIP: options.loadBalancerIp }),
    ...(options.sessionAffinity && { sessionAffinity: options.sessionAffinity }),
  }
  const place = session.namespaceGiven ? { namespace: session.namespace } : {}
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...place, ...(labels && { labels }) },
    spec,
  } as ApiObject
}

/** Returns the ports of an object. Throws UsageError if the kind cannot be exposed. */
function portsIn({ kind, spec = {} }: Exposed, { type }: Subject): Port[] {
  const exposableKinds = type.group === '' ? ['Service', 'Pod', 'ReplicationController'] : ['Deployment', 'ReplicaSet']
  if (!['', 'apps'].includes(type.group) || !exposableKinds.includes(kind))
    throw new UsageError(`cannot expose a ${kind}`)
  if (kind === 'Service') return spec.ports ?? []
  return containerPorts(kind === 'Pod' ? spec : (spec.template?.spec ?? {}))
}

/** Returns the labels that select the pods of the object. */
function selectorOf({ kind, metadata, spec = {} }: Exposed): object {
  if (kind === 'Service' || kind === 'ReplicationController') return spec.selector ?? {}
  if (kind === 'Pod') {
    if (metadata.labels === undefined)
      throw new UsageError('the pod has no labels and cannot be exposed: a service needs labels to select it')
    return metadata.labels
  }
  if (spec.selector?.matchExpressions?.length)
    throw new UsageError(
      `the selector of ${kind} ${metadata.name} has expressions, which services do not support: use --selector`,
    )
  return spec.selector?.matchLabels ?? {}
}

function containerPorts({ containers = [] }: PodSpec): Port[] {
  return containers.flatMap(({ ports = [] }) =>
    ports.map(({ containerPort, protocol }) => ({ port: containerPort, ...(protocol && { protocol }) })),
  )
}

function portsOf(own: readonly Port[], { port, targetPort, protocol, generator }: Options): object[] {
  const numbers = port === '' ? own.map((each) => each.port) : port.split(',').map(readPort)
  if (numbers.length === 0) throw new UsageError("couldn't find port via --port flag or introspection")
  return numbers.map((number, i) => ({
    ...(numbers.length > 1 ? { name: `port-${i + 1}` } : generator === 'service/v1' && { name: 'default' }),
    port: number,
    protocol: protocol || (own.find((each) => each.port === number)?.protocol ?? 'TCP'),
    targetPort: targetPort === '' ? number : /^\d+$/.test(targetPort) ? readPort(targetPort) : targetPort,
  }))
}

function readPort(value: string): number {
  const number = Number(value)
  if (!/^\d{1,5}$/.test(value) || number < 1 || number > 65535)
    throw new UsageError(`${JSON.stringify(value)} is not a port: use 1 to 65535`)
  return number
}
