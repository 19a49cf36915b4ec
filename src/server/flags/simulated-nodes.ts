/** Flags of the simulated nodes that `orch up` runs. */

import { parseQuantity } from '../../api/model/quantity.ts'
import { flag, readBoolean, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { usualCapacity } from '../../cluster/nodes/node-object.ts'

/** One range of 256 addresses for the pods of each. */
const maxNodes = 5000

export const simulatedNodeFlags = {
  nodes: flag({
    name: 'nodes',
    value: 'N',
    default: '1',
    read: readNodes,
    help: 'number of simulated nodes to run, node-1 and so on, which run no containers but report pods as running; 0 for none',
  }),
  nodeCapacity: capacityFlag('node-capacity', 'capacity of each simulated node'),
  nodeVolumes: flag({
    name: 'node-volumes',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'write the configMap, secret, downwardAPI, projected and emptyDir volumes of pods on simulated nodes to a directory in memory; false saves time and memory with thousands of pods',
  }),
  nodeStages: repeated({
    name: 'node-stages',
    value: 'FILE',
    read: text,
    help: "YAML file of KWOK's Stage objects, which say what happens to pods on simulated nodes; a built-in life by default",
  }),
}

/** What a node has of each resource; those that are not named keep their defaults. */
export function capacityFlag(name: string, help: string) {
  const fallback = Object.entries(usualCapacity)
    .map(([resource, amount]) => `${resource}=${amount}`)
    .join()
  return flag({
    name,
    value: 'AMOUNTS',
    default: fallback,
    read: readCapacity,
    help: `${help}, as resource=amount separated by commas`,
  })
}

function readNodes(value: string): number {
  const count = Number(value)
  if (!/^\d{1,4}$/.test(value) || count > maxNodes)
    throw new UsageError(`${JSON.stringify(value)} is not a number from 0 to ${maxNodes}`)
  return count
}

function readCapacity(value: string): { readonly [resource: string]: string } {
  const given = value.split(',').map((entry) => {
    const [resource = '', amount = '', ...more] = entry.split('=')
    if (resource === '' || more.length > 0 || parseQuantity(amount) === undefined)
      throw new UsageError(`${JSON.stringify(entry)} is not an amount of a resource: write cpu=32`)
    return [resource, amount] as const
  })
  return { ...usualCapacity, ...Object.fromEntries(given) }
}
