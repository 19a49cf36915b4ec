/**
 * Measures a simulated cluster in one process: 100 nodes, and a Deployment of 1,000 replicas that is created, updated
 * to another version and deleted. The rates depend on the machine, but the CPU time per pod and the latency of other
 * short requests during the run are comparable across machines. If ORCH_KUBE_BINARIES names a folder with
 * kube-controller-manager and kube-scheduler (1.20 to 1.23), the row runs again with these programs instead of the
 * built-in control loops and scheduler. The CPU time and the memory then include all three programs.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { type Bench, fetchBytes, type Side, serviceAccountKey } from '../servers.ts'
import { atMost, megabytes, quantile, type Row, short } from '../table.ts'
import { cpuOf, memoryOf } from '../usage.ts'
import { waitsDuring } from './stalls.ts'

const nodes = 100
const replicas = 1000
const pauseMs = 100
/** Time limit for the row, in case the machine is too slow. */
const maxRunMs = 240_000

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

/** A server, and the controller programs that run with it. */
interface Cluster {
  readonly side: Side
  readonly others: readonly Pick<Side, 'pid' | 'stop'>[]
  readonly title: string
}

export const clusterRows = {
  name: 'cluster',
  async run(bench: Bench): Promise<Row[]> {
    const side = await bench.startOrchUp(bench.newDirectory(), nodeFlags)
    const ours = await rowsOf({ side, others: [], title: '' })
    return [...ours, ...(await realRows(bench, process.env.ORCH_KUBE_BINARIES ?? ''))]
  },
}

const nodeFlags = [`--nodes=${nodes}`, '--node-volumes=false']
const realNames = ['kube-controller-manager', 'kube-scheduler']

async function realRows(bench: Bench, binaries: string): Promise<Row[]> {
  const title = ` by ${realNames.join(' and ')}`
  const isThere = binaries !== '' && realNames.every((name) => existsSync(join(binaries, name)))
  const note = `not run: ORCH_KUBE_BINARIES names no folder with ${realNames.join(' and ')}`
  if (!isThere) return [{ name: `the same${title}`, ours: '', bare: '', note, figures: {} }]
  const directory = bench.newDirectory()
  const flags = ['--profile=kubernetes', '--controllers=clusterrole-aggregation']
  const key = `--service-account-key-file=${serviceAccountKey(directory)}`
  const side = await bench.startOrchUp(directory, [...nodeFlags, ...flags, key])
  return await rowsOf({ side, others: bench.startKubeManagers(directory, side, binaries), title })
}

async function rowsOf(cluster: Cluster): Promise<Row[]> {
  const { side, others } = cluster
  await until(() => areReady(side))
  const client = await Client.connect(side)
  const rows: Row[] = []
  for (const step of steps) rows.push(await measure(cluster, client, step))
  client.close()
  await Promise.all(others.map((other) => other.stop()))
  await side.stop()
  return rows
}

async function measure(cluster: Cluster, client: Client, { name, begin, isDone }: Step): Promise<Row> {
  const { side, others, title } = cluster
  const pids = [side.pid, ...others.map(({ pid }) => pid)]
  const cpuOfAll = () => pids.reduce((sum, pid) => sum + cpuOf(pid).total, 0)
  const cpu = cpuOfAll()
  const start = performance.now()
  const waits = await waitsDuring(client, async () => {
    await begin(client)
    await until(() => isDone(side))
  })
  const seconds = (performance.now() - start) / 1000
  const perPod = ((cpuOfAll() - cpu) / replicas) * 1000
  const worst = Math.max(...waits)
  const p99 = quantile(waits, 0.99)
  const own = pids.reduce((sum, pid) => sum + memoryOf(pid).own, 0)
  return {
    name: name + title,
    ours: `${short(replicas / seconds)} pods/s`,
    bare: '',
    ...(others.length === 0 ? atMost(500, worst, 'ms') : {}),
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
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
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

/** Whether all nodes accept pods. A node that is not ready has a taint. */
async function areReady(side: Side): Promise<boolean> {
  const { items } = await read<NodeList>(side, '/api/v1/nodes')
  return items.length === nodes && items.every(({ spec }) => (spec?.taints ?? []).length === 0)
}

async function read<T>(side: Side, path: string): Promise<T> {
  return JSON.parse((await fetchBytes(side, path)).toString('utf8')) as T
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await isDone()); await setTimeout(pauseMs))
    if (performance.now() - start > maxRunMs) throw new Error(`not done after ${maxRunMs / 1000} s`)
}
