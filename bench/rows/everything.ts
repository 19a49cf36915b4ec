/**
 * Measures the total cost of the optional features: auditing every request to a file, priority and fairness, and
 * history, compared with a server without these features. Metrics are always on. The user is not exempt from priority
 * and fairness. For the cost of history alone, see `history.ts`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { http1 } from '../load.ts'
import { type Bench, readerToken, type Side } from '../servers.ts'
import type { Row } from '../table.ts'
import { allowed, costRow, creates, path, prepare, unlimited } from './overload.ts'

const gets = http1(path, { connections: 32, bearer: readerToken })

export const everythingRows = {
  name: 'everything',
  async run(bench: Bench): Promise<Row[]> {
    return await compareAll(bench)
  },
}

async function compareAll(bench: Bench): Promise<Row[]> {
  const log = join(bench.newDirectory(), 'audit.log')
  const on = await prepare(bench, [...allowed, ...audit(bench, 'Metadata'), `--audit-log-path=${log}`])
  const off = await prepare(bench, [...unlimited, ...audit(bench, 'None'), '--history-retention=0'])
  return await closing({ on, off }, async (sides) => [
    await costRow('GET 1 kB, everything on', gets, sides, 'beside everything off'),
    await costRow('create 1 kB, everything on', creates(), sides, 'beside everything off'),
  ])
}

interface Sides {
  readonly on: Side
  readonly off: Side
}

async function closing<T>(sides: Sides, measure: (sides: Sides) => Promise<T>): Promise<T> {
  try {
    return await measure(sides)
  } finally {
    await Promise.all([sides.on.stop(), sides.off.stop()])
  }
}

/** Returns the flags for a policy that audits all requests at one level. */
function audit(bench: Bench, level: string): string[] {
  const file = join(bench.newDirectory(), 'policy.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level }] }))
  return [`--audit-policy-file=${file}`]
}
