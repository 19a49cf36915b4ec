/**
 * Measures the latency of other clients while one client sends expensive requests: the slowest of many short GETs while
 * one client requests lists of 50,000 objects, tables of 10,000 objects, and lists with expensive selectors.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { collection } from '../objects.ts'
import { type Bench, type Side, token } from '../servers.ts'
import { atMost, quantile, type Row, short } from '../table.ts'
import { cpuOf, memoryOf, resetPeak } from '../usage.ts'

const table = 'application/json;as=Table;g=meta.orch.io;v=v1'
const costly = encodeURIComponent(Array.from({ length: 1000 }, (_, i) => `metadata.name!=n${i}`).join())
const pauseMs = 2
const mega = 1024 ** 2

interface Load {
  readonly name: string
  readonly objects: number
  readonly run: (side: Side) => Promise<unknown>
}

const loads: readonly Load[] = [
  {
    name: '4 LISTs of 50,000',
    objects: 50_000,
    run: (side) => Promise.all(Array.from({ length: 4 }, () => drain(side, collection))),
  },
  {
    name: 'a selector of 1,000 terms over 50,000',
    objects: 50_000,
    run: (side) => drain(side, `${collection}?limit=1&fieldSelector=${costly}`),
  },
  { name: 'a Table of 10,000', objects: 10_000, run: (side) => drain(side, collection, { accept: table }) },
]

export const stallRows = {
  name: 'stalls',
  async run(bench: Bench): Promise<Row[]> {
    const rows: Row[] = []
    for (const load of loads) rows.push(await stallRow(bench, load))
    return rows
  },
}

async function stallRow(bench: Bench, { name, objects, run }: Load): Promise<Row> {
  const side = await bench.startOrch(await bench.filled(objects))
  const client = await Client.connect(side)
  const idle = await waitsDuring(client, () => setTimeout(1000))
  resetPeak(side.pid)
  const before = cpuOf(side.pid).main
  const waits = await waitsDuring(client, () => run(side))
  const cpu = cpuOf(side.pid).main - before
  const { peak } = memoryOf(side.pid)
  client.close()
  await side.stop()
  const worst = Math.max(...waits)
  const rest = Math.max(...idle)
  return {
    name: `longest wait during ${name}`,
    ours: `${short(worst)} ms`,
    bare: `${short(rest)} ms`,
    ...atMost(500, worst, 'ms'),
    note: `bare: the same server at rest; p99 ${short(quantile(waits, 0.99))} ms; ${short(cpu)} s of the loop; peak ${short(peak / mega)} MB`,
    figures: { ours: worst, bare: rest, p99: quantile(waits, 0.99) },
  }
}

/** Returns the latency of each of many sequential short requests while other work is in progress. */
export async function waitsDuring(client: Client, run: () => Promise<unknown>): Promise<number[]> {
  const waits: number[] = []
  let running = true
  const asking = (async () => {
    while (running) {
      const start = performance.now()
      await client.send('GET', '/livez', '')
      waits.push(performance.now() - start)
      await setTimeout(pauseMs)
    }
  })()
  await run()
  running = false
  await asking
  return waits
}

/** Requests a path and discards the response. Parsing it here would delay the requests that are being timed. */
async function drain({ port }: Side, path: string, more: { readonly [name: string]: string } = {}): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, ...more }
  const sent = request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`${path.slice(0, 100)} was answered with ${response.statusCode}`)
}
