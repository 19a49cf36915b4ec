/**
 * Measures a large simulated cluster in one process: first 5,000 nodes until all are ready, then 10,000 pods without an
 * owner, and then 10,000 pods of a Deployment. All pods are created, run and deleted. The first two targets are the
 * same as those of KWOK, which binds its pods to a node without a scheduler. In this benchmark, the scheduler chooses
 * among all nodes. `ORCH_SCALE=nodes,pods` changes the numbers, and `ORCH_SCALE_ONLY=targets` leaves out the
 * Deployment, which has no target. The rates depend on the machine. The CPU time of each thread is comparable across
 * machines.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { atMost, megabytes, quantile, type Row, short } from '../table.ts'
import { cpuOfThreads, memoryOf, resetPeak } from '../usage.ts'
import { waitsDuring } from './stalls.ts'

const [nodes = 5000, pods = 10_000] = (process.env.ORCH_SCALE ?? '').split(',').filter(Boolean).map(Number)
const onlyTargets = process.env.ORCH_SCALE_ONLY === 'targets'
const senders = 16
const pauseMs = 250
/** Time limit for the row, in case the machine is too slow. */
const maxRunMs = 1_200_000

const podPath = '/api/v1/namespaces/default/pods'
const deploymentPath = '/apis/apps/v1/namespaces/default/deployments'
const requests = { cpu: '10m', memory: '10Mi' }
const podSpec = { containers: [{ name: 'web', image: 'web:1', resources: { requests } }] }

interface Step {
  readonly name: string
  /** Number of objects. The CPU time is reported per object. */
  readonly count: number
  readonly targetSeconds?: number
  readonly begin: (client: Client) => Promise<void>
  readonly isDone: (side: Side) => Promise<boolean>
}

const steps: readonly Step[] = [
  {
    name: `${pods} pods on ${nodes} nodes: created, scheduled, running`,
    count: pods,
    targetSeconds: 60,
    begin: createPods,
    isDone: areRunning,
  },
  {
    name: `${pods} pods deleted`,
    count: pods,
    targetSeconds: 90,
    begin: (client) => client.send('DELETE', podPath, ''),
    isDone: areGone,
  },
  {
    name: `Deployment of ${pods} pods on ${nodes} nodes: created, ready`,
    count: pods,
    begin: (client) => client.send('POST', deploymentPath, JSON.stringify(deployment())),
    isDone: isAvailable,
  },
  {
    name: `Deployment of ${pods} pods deleted`,
    count: pods,
    begin: (client) => client.send('DELETE', `${deploymentPath}/web`, ''),
    isDone: areGone,
  },
]

export const scaleRows = {
  name: 'scale',
  async run(bench: Bench): Promise<Row[]> {
    const start = performance.now()
    const side = await bench.startOrchUp(bench.newDirectory(), [`--nodes=${nodes}`, '--node-volumes=false'])
    const client = await Client.connect(side)
    const ready: Step = {
      name: `${nodes} nodes ready`,
      count: nodes,
      targetSeconds: 60,
      begin: async () => {},
      isDone: untilReady(),
    }
    const rows = [await measure(side, client, ready, start)]
    for (const step of steps)
      if (!onlyTargets || step.targetSeconds !== undefined)
        rows.push(await measure(side, client, step, performance.now()))
    client.close()
    await side.stop()
    return rows
  },
}

async function measure(side: Side, client: Client, step: Step, start: number): Promise<Row> {
  const { name, count, targetSeconds, begin, isDone } = step
  const before = cpuOfThreads(side.pid)
  resetPeak(side.pid)
  const waits = await waitsDuring(client, async () => {
    await begin(client)
    await until(() => isDone(side))
  })
  const seconds = (performance.now() - start) / 1000
  const threads = [...cpuOfThreads(side.pid)]
    .map(([id, thread]) => ({ name: thread.name, seconds: thread.seconds - (before.get(id)?.seconds ?? 0) }))
    .filter((thread) => thread.seconds >= 0.5)
    .toSorted((a, b) => b.seconds - a.seconds)
  const total = threads.reduce((sum, thread) => sum + thread.seconds, 0)
  const worst = Math.max(...waits)
  const p99 = quantile(waits, 0.99)
  const { own, peak } = memoryOf(side.pid)
  const busiest = threads.map((thread) => `${thread.name} ${short(thread.seconds)} s`).join(', ')
  return {
    name,
    ours: `${short(seconds)} s`,
    bare: '',
    ...(targetSeconds === undefined ? {} : atMost(targetSeconds, seconds, 's')),
    cpu: `${short((total / count) * 1000)} ms`,
    note: `${busiest}; GET p99 ${short(p99)} ms, longest ${short(worst)} ms; ${megabytes(own)}, peak ${megabytes(peak)}`,
    figures: { seconds, cpuMs: (total / count) * 1000, longestWaitMs: worst, p99WaitMs: p99, own, peak },
  }
}

async function createPods(client: Client): Promise<void> {
  let next = 0
  const sender = async () => {
    while (next < pods) await client.send('POST', podPath, JSON.stringify(pod(next++)))
  }
  await Promise.all(Array.from({ length: senders }, sender))
}

function pod(i: number): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${i}`, labels: { app: 'bare' } }, spec: podSpec }
}

function deployment(): object {
  const labels = { app: 'web' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: pods, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  }
}

interface List {
  readonly items: readonly { readonly spec?: { readonly taints?: readonly unknown[] } }[]
  readonly metadata: { readonly remainingItemCount?: number }
}

/**
 * Returns a function that checks whether all nodes are ready. It reads one node after another, because repeatedly
 * reading the list of all nodes would take more CPU time than the nodes themselves.
 */
function untilReady(): Step['isDone'] {
  let next = 1
  return async (side) => {
    for (; next <= nodes; next++) {
      const { items } = await read<List>(side, `/api/v1/nodes?fieldSelector=metadata.name%3Dnode-${next}`)
      const [node] = items
      if (node === undefined || (node.spec?.taints ?? []).length > 0) return false
    }
    return true
  }
}

async function areRunning(side: Side): Promise<boolean> {
  const others = await read<List>(side, `${podPath}?limit=1&fieldSelector=status.phase!%3DRunning`)
  return others.items.length === 0 && (await countOf(side, podPath)) === pods
}

async function areGone(side: Side): Promise<boolean> {
  return (await countOf(side, podPath)) === 0
}

async function isAvailable(side: Side): Promise<boolean> {
  const { status } = await read<{ status?: { availableReplicas?: number } }>(side, `${deploymentPath}/web`)
  return status?.availableReplicas === pods
}

async function countOf(side: Side, path: string): Promise<number> {
  const { items, metadata } = await read<List>(side, `${path}?limit=1`)
  return items.length + (metadata.remainingItemCount ?? 0)
}

async function read<T>(side: Side, path: string): Promise<T> {
  return JSON.parse((await fetchBytes(side, path)).toString('utf8')) as T
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await isDone()); await setTimeout(pauseMs))
    if (performance.now() - start > maxRunMs) throw new Error(`not done after ${maxRunMs / 1000} s`)
}
