/**
 * Measures the cost of a write, a page of 500 objects and a watch event with 1,000 to 300,000 stored objects. None of
 * these costs should grow.
 */
import { Client } from '../client.ts'
import { http1, measure } from '../load.ts'
import { collection, nameOf, objectJson, pathOf } from '../objects.ts'
import type { Series } from '../plot.ts'
import type { Bench, Side } from '../servers.ts'
import { quantile, type Row, short } from '../table.ts'
import { updates } from './writes.ts'

const sizes = [1000, 10_000, 100_000, 300_000]

interface Costs {
  readonly size: number
  /** Microseconds of CPU time per request. */
  readonly write: number
  readonly page: number
  /** Microseconds from sending a write until one watcher receives the event, on an otherwise idle server. */
  readonly event: number
}

export const growthRows = {
  name: 'growth',
  async run(bench: Bench): Promise<Row[]> {
    const costs: Costs[] = []
    for (const size of sizes) costs.push(await costsAt(bench, size))
    return costs.flatMap((cost) => rowsOf(cost, costs[0]!))
  },
}

async function costsAt(bench: Bench, size: number): Promise<Costs> {
  const side = await bench.startOrch(await bench.filled(size))
  const page = http1(`${collection}?limit=500`, { connections: 4 })
  await measure(side, page, 1)
  const pages = await measure(side, page, 2)
  await measure(side, updates(size, 'a', 16), 1)
  const writes = await measure(side, updates(size, 'b', 16), 2)
  const event = await eventTime(side, size)
  await side.stop()
  return { size, page: pages.cpu, write: writes.cpu, event }
}

const events = 300

async function eventTime(side: Side, size: number): Promise<number> {
  const client = await Client.connect(side)
  let arrived = () => {}
  await client.watch(`${collection}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3D${nameOf(size / 2)}`, () =>
    arrived(),
  )
  const times: number[] = []
  for (let i = 0; i < events; i++) {
    const start = performance.now()
    const eventSeen = new Promise<void>((resolve) => {
      arrived = resolve
    })
    await client.send('PUT', pathOf(size / 2), objectJson(nameOf(size / 2), `timed ${i}`))
    await eventSeen
    times.push(performance.now() - start)
  }
  client.close()
  return quantile(times, 0.5) * 1000
}

/** Converts the rows to lines for a plot. */
export function growthSeries(rows: readonly Row[]): Series[] {
  const names = new Map<string, (readonly [number, number])[]>()
  for (const { name, figures } of rows) {
    const [what, at] = name.split(' at ')
    if (at === undefined || figures.size === undefined) continue
    names.set(what!, [...(names.get(what!) ?? []), [figures.size, figures.ours!]])
  }
  return [...names].map(([name, points]) => ({ name, points }))
}

function rowsOf(cost: Costs, first: Costs): Row[] {
  const row = (name: string, what: 'write' | 'page' | 'event', unit: string): Row => ({
    name: `${name} at ${short(cost.size)} objects`,
    ours: `${short(cost[what])} ${unit}`,
    bare: `${short(first[what])} ${unit}`,
    ratio: first[what] / cost[what],
    note: 'bare: the same at 1,000',
    figures: { size: cost.size, ours: cost[what], first: first[what] },
  })
  return [row('update', 'write', 'µs CPU'), row('LIST of 500', 'page', 'µs CPU'), row('event, alone', 'event', 'µs')]
}
