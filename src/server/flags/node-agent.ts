/** Flags of `orch node-agent`, in the groups that its help shows. Those that a kubelet has too are named as its are. */

import type { Taint } from '../../api/kinds/core/types/taint.ts'
import { checkDnsSubdomain } from '../../api/model/names.ts'
import { flag, type OptionsOf, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { loggingFlags } from './logging.ts'
import { readPort } from './serving.ts'
import { capacityFlag } from './simulated-nodes.ts'
import { list, readAddress, readTime } from './values.ts'

const nodeFlags = {
  name: flag({ name: 'name', value: 'NAME', read: readName, help: 'name of the node' }),
  nodeIp: flag({
    name: 'node-ip',
    value: 'IP',
    default: '127.0.0.1',
    read: readAddress,
    help: 'address that the node reports as its own',
  }),
  nodeLabels: flag({
    name: 'node-labels',
    value: 'LABELS',
    read: readLabels,
    help: 'labels to register with, as key=value separated by commas',
  }),
  taints: flag({
    name: 'register-with-taints',
    value: 'TAINTS',
    read: readTaints,
    help: 'taints to register with, as key=value:effect separated by commas',
  }),
  port: flag({
    name: 'port',
    value: 'PORT',
    default: '10250',
    read: readPort,
    help: 'port of logs, exec, attach and port-forward on the address of the node, for those whom the API server permits; 0 for none',
  }),
  capacity: capacityFlag('capacity', 'what the node has'),
  podCidr: flag({
    name: 'pod-cidr',
    value: 'CIDR',
    read: text,
    help: 'range of pod addresses where the Node object names none; by default one of 10.192.0.0/10, by the name of the node',
  }),
  stages: repeated({
    name: 'stages',
    value: 'FILE',
    read: text,
    help: "YAML file of KWOK's Stage objects, which say what happens to pods; a built-in life by default",
  }),
}

const joinFlags = {
  bootstrapKubeconfig: flag({
    name: 'bootstrap-kubeconfig',
    value: 'FILE',
    read: text,
    help: 'client config with the server and a bootstrap token, to join the cluster with where --kubeconfig has no valid certificate',
  }),
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'client config of the node, with its certificate, which is renewed there; kubeconfig in the root directory by default',
  }),
  rootDir: flag({
    name: 'root-dir',
    value: 'DIR',
    read: text,
    help: 'directory of the node: volumes of pods; .orch/node-NAME by default',
  }),
  timeout: flag({
    name: 'join-timeout',
    value: 'TIME',
    default: '5m',
    read: readTime,
    help: 'time to wait for the certificate',
  }),
}

export const nodeAgentFlagGroups = { Node: nodeFlags, Joining: joinFlags, Logging: loggingFlags } as const

export const nodeAgentFlags = { ...nodeFlags, ...joinFlags, ...loggingFlags }

/** Options of `orch node-agent`. */
export type NodeAgentOptions = OptionsOf<typeof nodeAgentFlags>

function readName(value: string): string {
  const [fault] = value === '' ? [] : checkDnsSubdomain(value)
  if (fault !== undefined) throw new UsageError(`${JSON.stringify(value)} is not a name of a node: ${fault}`)
  return value
}

function readLabels(value: string): { readonly [key: string]: string } {
  const pairs = list(value).map((entry) => {
    const [key = '', text, ...more] = entry.split('=')
    if (key === '' || text === undefined || more.length > 0)
      throw new UsageError(`${JSON.stringify(entry)} is not a label: write key=value`)
    return [key, text] as const
  })
  return Object.fromEntries(pairs)
}

function readTaints(value: string): Taint[] {
  return list(value).map((entry) => {
    const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(entry)
    if (match === null) throw new UsageError(`${JSON.stringify(entry)} is not a taint: write key=value:NoSchedule`)
    return { key: match[1]!, ...(match[2] ? { value: match[2] } : {}), effect: match[3]! }
  })
}
