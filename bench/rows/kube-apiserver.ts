/**
 * Compares the server with kube-apiserver on etcd, both with default settings: reads, lists and writes of 1 kB
 * ConfigMaps. The CPU time of kube-apiserver includes its etcd. The two servers alternate, so that other load on the
 * machine affects both. Runs only if ORCH_BENCH_KUBE_APISERVER and ORCH_BENCH_ETCD name the programs.
 */
import { existsSync } from 'node:fs'
import { Client } from '../client.ts'
import { cpuPair, type Drive, http1, http2, latencies, type Measured, mean, measure } from '../load.ts'
import { collection, nameOf, objectJson, pathOf } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import { perSecond, type Row } from '../table.ts'
import { creates, http2Creates, updates } from './writes.ts'

const objectCount = 10_000
const rounds = 3
const seconds = 3

interface Load {
  readonly name: string
  /** Creates a load. `run` is part of the object names, so that they differ between runs. */
  readonly drive: (run: string) => Drive
}

const loads: readonly Load[] = [
  { name: 'GET, 32 connections', drive: () => http1(pathOf(500), { connections: 32 }) },
  { name: 'GET, HTTP/2', drive: () => http2(pathOf(500), { connections: 4, streams: 16 }) },
  { name: 'LIST of 500', drive: () => http1(`${collection}?limit=500`, { connections: 8 }) },
  { name: 'LIST of 10,000', drive: () => http1(collection, { connections: 4 }) },
  { name: 'create, 64 connections', drive: (run) => creates(run) },
  { name: 'create, HTTP/2', drive: (run) => http2Creates(run) },
  { name: 'create, one connection', drive: (run) => creates(run, 1) },
  { name: 'update, 32 connections', drive: (run) => updates(objectCount, run, 32) },
]

export const kubeApiserverRows = {
  name: 'kube-apiserver',
  async run(bench: Bench): Promise<Row[]> {
    const apiserver = process.env.ORCH_BENCH_KUBE_APISERVER ?? ''
    const etcd = process.env.ORCH_BENCH_ETCD ?? ''
    if (!existsSync(apiserver) || !existsSync(etcd)) {
      const note = 'not run: ORCH_BENCH_KUBE_APISERVER and ORCH_BENCH_ETCD name no programs'
      return [{ name: 'beside kube-apiserver', ours: '', bare: '', note, figures: {} }]
    }
    const ours = await bench.startOrch(bench.newDirectory(), ['--profile=kubernetes'])
    const theirs = await bench.startKubeApiserver({ apiserver, etcd })
    for (const side of [ours, theirs]) await createObjects(side)
    const rows: Row[] = []
    for (const load of loads) rows.push(await rowOf(load, ours, theirs))
    await Promise.all([ours.stop(), theirs.stop()])
    return rows
  },
}

const clients = 64

async function createObjects(side: Side): Promise<void> {
  const client = await Client.connect(side)
  let next = 0
  const work = async () => {
    for (let i = next++; i < objectCount; i = next++)
      await client.send('POST', collection, objectJson(nameOf(i), String(i)))
  }
  await Promise.all(Array.from({ length: clients }, work))
  client.close()
}

async function rowOf({ name, drive }: Load, ours: Side, theirs: Side): Promise<Row> {
  const measured = { ours: [] as Measured[], theirs: [] as Measured[] }
  const prefix = name.replaceAll(/[^a-zA-Z0-9]+/g, '-').toLowerCase()
  for (const [sort, side] of Object.entries({ ours, theirs })) await drive(`${prefix}-${sort}-`)(side, 1)
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)
    for (const sort of order)
      measured[sort].push(await measure({ ours, theirs }[sort], drive(`${prefix}-${round}-`), seconds))
  }
  const [our, their] = [mean(measured.ours), mean(measured.theirs)]
  return {
    name: `${name}, beside kube-apiserver`,
    ours: perSecond(our.perSecond),
    bare: perSecond(their.perSecond),
    ratio: our.perSecond / their.perSecond,
    byCpu: their.cpu / our.cpu,
    cpu: cpuPair(our, their),
    note: our.p50 === undefined ? '' : `ours: ${latencies(our)}theirs: ${latencies(their)}`.replace(/; $/, ''),
    figures: { ours: our.perSecond, theirs: their.perSecond, oursCpu: our.cpu, theirsCpu: their.cpu },
  }
}
