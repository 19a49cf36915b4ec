/** Defines the flags for the simulated nodes of `orch up`. */

import { parseQuantity } from '../../api/model/quantity.ts'
import { flag, readBoolean, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { usualCapacity } from '../../cluster/nodes/node-object.ts'

/** Maximum number of nodes. The number is limited because each node needs a pod CIDR of 256 addresses. */
const maxNodes = 5000

const speeds = { min: 0.1, max: 1000 }

/** The `--simulation-speed` flag. */
export const simulationSpeedFlag = flag({
  name: 'simulation-speed',
  value: 'FACTOR',
  default: '1',
  read: readSpeed,
  help: 'speed of simulated containers relative to real time; applies to starts, exits, restarts and sleeps',
})

export const simulatedNodeFlags = {
  nodes: flag({
    name: 'nodes',
    value: 'N',
    default: '1',
    read: readNodes,
    help: 'number of simulated nodes, named node-1 and so on, which report pods as running without starting containers; 0 for none',
  }),
  simulationSpeed: simulationSpeedFlag,
  nodeCapacity: capacityFlag('node-capacity', 'capacity of each simulated node'),
  nodeVolumes: flag({
    name: 'node-volumes',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'write the configMap, secret, downwardAPI, projected and emptyDir volumes of simulated pods to an in-memory directory; with thousands of pods, false saves time and memory',
  }),
  nodeDevices: flag({
    name: 'node-devices',
    value: 'FILE',
    default: '',
    read: text,
    help: 'YAML file with ResourceSlices whose devices every simulated node publishes; Kubernetes 1.34 or later',
  }),
  simulationLogs: flag({
    name: 'simulation-logs',
    value: 'DIRECTORY',
    default: '',
    read: text,
    help: "directory of files that Logs and Attach objects in KWOK's format may use as the output of simulated containers; none by default",
  }),
  nodeStages: repeated({
    name: 'node-stages',
    value: 'FILE',
    read: text,
    help: 'YAML file with KWOK Stage objects, which define the pod lifecycle on simulated nodes; a built-in lifecycle by default',
  }),
}

/** Returns a flag for node capacity. Resources that the value does not mention keep their defaults. */
export function capacityFlag(name: string, help: string) {
  const fallback = Object.entries(usualCapacity)
    .map(([resource, amount]) => `${resource}=${amount}`)
    .join()
  return flag({
    name,
    value: 'AMOUNTS',
    default: fallback,
    read: readCapacity,
    help: `${help}, as RESOURCE=AMOUNT separated by commas`,
  })
}

function readSpeed(value: string): number {
  const speed = Number(value)
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(value) || speed < speeds.min || speed > speeds.max)
    throw new UsageError(`${JSON.stringify(value)} is not a number from ${speeds.min} to ${speeds.max}`)
  return speed
}

function readNodes(value: string): number {
  const count = Number(value)
  if (!/^\d{1,4}$/.test(value) || count > maxNodes)
    throw new UsageError(`${JSON.stringify(value)} is not a number from 0 to ${maxNodes}`)
  return count
}

function readCapacity(value: string): { readonly [resource: string]: string } {
  const capacityEntries = value.split(',').map((entry) => {
    const [resource = '', amount = '', ...more] = entry.split('=')
    if (resource === '' || more.length > 0 || parseQuantity(amount) === undefined)
      throw new UsageError(`${JSON.stringify(entry)} is not a valid resource quantity: use a quantity such as cpu=32`)
    return [resource, amount] as const
  })
  return { ...usualCapacity, ...Object.fromEntries(capacityEntries) }
}
