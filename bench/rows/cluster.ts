/**
 * A whole simulated cluster in one process: 100 nodes, a Deployment of 1,000 replicas created until all are ready, rolled
 * to another version, and deleted. The rates say little on another machine; the processor time per pod, and for how long
 * short requests of others waited meanwhile, compare.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { below, megabytes, quantile, type Row, short } from '../table.ts'
import { cpuOf, memoryOf } from '../usage.ts'
import { waitsDuring } from './stalls.ts'

const nodes = 100
const replicas = 1000
const pauseMs = 100
/** A machine that is too slow for this ends the run. */
const longestMs = 240_000

const collection = '/apis/apps/v1/namespaces/default/deployments'
const pods = '/api/v1/namespaces/default/pods?limit=1'

interface Step {
  readonly name: string
  readonly begin: (client: Client) => Promise<void>
  readonly isDone: (side: Side) => Promise<boolean>
}

const steps: readonly Step[] = [
  {
    name: `${replicas} pods on ${nodes} nodes: created, scheduled, ready`,
    begin: (client) => client.send('POST', collection, JSON.stringify(deployment('one'))),
    isDone: isRolledOut,
  },
  {
    name: `${replicas} replicas rolled to another version`,
    begin: (client) => client.send('PUT', `${collection}/web`, JSON.stringify(deployment('two'))),
    isDone: isRolledOut,
  },
  {
    name: `${replicas} pods deleted with their Deployment`,
    begin: (client) => client.send('DELETE', `${collection}/web`, ''),
    isDone: async (side) => (await read<{ items: unknown[] }>(side, pods)).items.length === 0,
  },
]

export const clusterRows = {
  name: 'cluster',
  async run(bench: Bench): Promise<Row[]> {
    const flags = [`--nodes=${nodes}`, '--node-volumes=false']
    const side = await bench.startOrchUp(bench.newDirectory(), flags)
    await until(() => areReady(side))
    const client = await Client.connect(side)
    const rows: Row[] = []
    for (const step of steps) rows.push(await measure(side, client, step))
    client.close()
    await side.stop()
    return rows
  },
}

async function measure(side: Side, client: Client, { name, begin, isDone }: Step): Promise<Row> {
  const cpu = cpuOf(side.pid).total
  const start = performance.now()
  const waits = await waitsDuring(client, async () => {
    await begin(client)
    await until(() => isDone(side))
  })
  const seconds = (performance.now() - start) / 1000
  const perPod = ((cpuOf(side.pid).total - cpu) / replicas) * 1000
  const [worst, p99] = [Math.max(...waits), quantile(waits, 0.99)]
  const { own } = memoryOf(side.pid)
  return {
    name,
    ours: `${short(replicas / seconds)} pods/s`,
    bare: '',
    ...below(500, worst, 'ms'),
    cpu: `${short(perPod)} ms/pod`,
    note: `longest wait of a GET ${short(worst)} ms, p99 ${short(p99)} ms; ${megabytes(own)}`,
    figures: { podsPerSecond: replicas / seconds, cpuMsPerPod: perPod, longestWaitMs: worst, p99WaitMs: p99, own },
  }
}

function deployment(image: string): object {
  const labels = { app: 'web' }
  const requests = { cpu: '10m', memory: '10Mi' }
  const spec = { containers: [{ name: 'web', image, resources: { requests } }] }
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  }
}

interface Deployment {
  readonly metadata: { readonly generation: number }
  readonly status: { readonly [count: string]: number }
}

async function isRolledOut(side: Side): Promise<boolean> {
  const { metadata, status } = await read<Deployment>(side, `${collection}/web`)
  const counts = ['replicas', 'updatedReplicas', 'availableReplicas']
  return status.observedGeneration === metadata.generation && counts.every((count) => status[count] === replicas)
}

interface NodeList {
  readonly items: readonly { readonly spec?: { readonly taints?: readonly unknown[] } }[]
}

/** Whether all nodes take pods: one that is not ready has a taint. */
async function areReady(side: Side): Promise<boolean> {
  const { items } = await read<NodeList>(side, '/api/v1/nodes')
  return items.length === nodes && items.every(({ spec }) => (spec?.taints ?? []).length === 0)
}

async function read<T>(side: Side, path: string): Promise<T> {
  return JSON.parse((await fetchBytes(side, path)).toString('utf8')) as T
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await isDone()); await setTimeout(pauseMs))
    if (performance.now() - start > longestMs) throw new Error(`not done after ${longestMs / 1000} s`)
}
