/**
 * Flags of `orch node-agent`, grouped as in its help text. If the kubelet has a corresponding flag, the names are the
 * same.
 */

import type { Taint } from '../../api/kinds/core/types/taint.ts'
import { checkDnsSubdomain } from '../../api/model/names.ts'
import { flag, type OptionsOf, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { loggingFlags } from './logging.ts'
import { readPort } from './serving.ts'
import { capacityFlag, simulationSpeedFlag } from './simulated-nodes.ts'
import { list, readAddress, readTime } from './values.ts'

const nodeFlags = {
  name: flag({ name: 'name', value: 'NAME', read: readName, help: 'name of the node' }),
  nodeIp: flag({
    name: 'node-ip',
    value: 'IP',
    default: '127.0.0.1',
    read: readAddress,
    help: 'IP address that the node reports in its status',
  }),
  nodeLabels: flag({
    name: 'node-labels',
    value: 'LABELS',
    read: readLabels,
    help: 'labels to register the node with, as KEY=VALUE separated by commas',
  }),
  taints: flag({
    name: 'register-with-taints',
    value: 'TAINTS',
    read: readTaints,
    help: 'taints to register the node with, as KEY=VALUE:EFFECT separated by commas',
  }),
  port: flag({
    name: 'port',
    value: 'PORT',
    default: '10250',
    read: readPort,
    help: "HTTPS port on the node's IP address for logs, exec, attach and port-forward (requires authorization by the API server); 0 disables the port",
  }),
  capacity: capacityFlag('capacity', 'capacity of the node'),
  podCidr: flag({
    name: 'pod-cidr',
    value: 'CIDR',
    read: text,
    help: "CIDR range for pod IPs if the Node object has no pod CIDR; by default a range in 10.192.0.0/10 derived from the node's name",
  }),
  simulationSpeed: simulationSpeedFlag,
  stages: repeated({
    name: 'stages',
    value: 'FILE',
    read: text,
    help: 'YAML file with KWOK Stage objects, which define the pod lifecycle; a built-in lifecycle by default',
  }),
}

const joinFlags = {
  bootstrapKubeconfig: flag({
    name: 'bootstrap-kubeconfig',
    value: 'FILE',
    read: text,
    help: 'kubeconfig with the address of the API server and a bootstrap token, used to join the cluster if --kubeconfig has no valid certificate',
  }),
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'kubeconfig of the node with its client certificate, which the agent renews; defaults to the file kubeconfig in --root-dir',
  }),
  rootDir: flag({
    name: 'root-dir',
    value: 'DIR',
    read: text,
    help: "directory for the node's data, such as pod volumes; defaults to .orch/node-NAME",
  }),
  timeout: flag({
    name: 'join-timeout',
    value: 'TIME',
    default: '5m',
    read: readTime,
    help: 'maximum time to wait for the client certificate',
  }),
}

export const nodeAgentFlagGroups = { Node: nodeFlags, Joining: joinFlags, Logging: loggingFlags } as const

export const nodeAgentFlags = { ...nodeFlags, ...joinFlags, ...loggingFlags }

/** Parsed flags of `orch node-agent`. */
export type NodeAgentOptions = OptionsOf<typeof nodeAgentFlags>

function readName(value: string): string {
  const [fault] = value === '' ? [] : checkDnsSubdomain(value)
  if (fault !== undefined) throw new UsageError(`${JSON.stringify(value)} is not a valid node name: ${fault}`)
  return value
}

function readLabels(value: string): { readonly [key: string]: string } {
  const pairs = list(value).map((entry) => {
    const [key = '', text, ...more] = entry.split('=')
    if (key === '' || text === undefined || more.length > 0)
      throw new UsageError(`${JSON.stringify(entry)} is not a valid label: use KEY=VALUE`)
    return [key, text] as const
  })
  return Object.fromEntries(pairs)
}

function readTaints(value: string): Taint[] {
  return list(value).map((entry) => {
    const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(entry)
    if (match === null)
      throw new UsageError(`${JSON.stringify(entry)} is not a valid taint: use a taint such as key=value:NoSchedule`)
    return { key: match[1]!, ...(match[2] ? { value: match[2] } : {}), effect: match[3]! }
  })
}
