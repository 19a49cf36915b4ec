/**
 * `npm run bench`: measures the performance of the server compared with the limits of the machine, in one run of a few
 * minutes. All bare limits are measured in the same run, so that the ratios are valid on any machine. Requires Linux,
 * wrk and h2load.
 *
 *   --only TEXT      only the groups of rows whose names contain TEXT: get, access, tokens, certificates, list,
 *                    streaming-lists, writes, admission, policies, webhooks, custom, custom-definitions, stores, patch,
 *                    start, memory, watch, fan-out, protobuf, label, stalls, overload, everything, history, collection,
 *                    orchctl, testing, client, cluster, scale, workers, kube-apiserver, growth
 *   --json FILE      also write the figures to a file
 *   --plot FILE      plot the rows of `growth` (SVG)
 *   --cpu-prof DIR   write CPU profiles of the server to DIR, which slows down the server
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { plot } from './plot.ts'
import { accessRows } from './rows/access.ts'
import { admissionRows } from './rows/admission.ts'
import { certificateRows } from './rows/certificates.ts'
import { clientRows } from './rows/client.ts'
import { clusterRows } from './rows/cluster.ts'
import { collectionRows } from './rows/collection.ts'
import { customRows } from './rows/custom.ts'
import { definitionRows } from './rows/definitions.ts'
import { everythingRows } from './rows/everything.ts'
import { fanOutRows } from './rows/fan-out.ts'
import { getRows } from './rows/get.ts'
import { growthRows, growthSeries } from './rows/growth.ts'
import { historyRows } from './rows/history.ts'
import { kubeApiserverRows } from './rows/kube-apiserver.ts'
import { labelRows } from './rows/label.ts'
import { listRows } from './rows/list.ts'
import { memoryRows } from './rows/memory.ts'
import { orchctlRows } from './rows/orchctl.ts'
import { overloadRows } from './rows/overload.ts'
import { patchRows } from './rows/patch.ts'
import { policyRows } from './rows/policies.ts'
import { protobufRows } from './rows/protobuf.ts'
import { scaleRows } from './rows/scale.ts'
import { stallRows } from './rows/stalls.ts'
import { startRows } from './rows/start.ts'
import { storeRows } from './rows/stores.ts'
import { streamingListRows } from './rows/streaming-lists.ts'
import { testingRows } from './rows/testing.ts'
import { tokenRows } from './rows/tokens.ts'
import { watchRows } from './rows/watch.ts'
import { webhookRows } from './rows/webhooks.ts'
import { workerRows } from './rows/workers.ts'
import { writeRows } from './rows/writes.ts'
import { Bench } from './servers.ts'
import { printTable, type Row } from './table.ts'

/** Keep `growth` last, because it writes to the objects that `start` and `memory` measure. */
const groups = [
  getRows,
  accessRows,
  tokenRows,
  certificateRows,
  listRows,
  streamingListRows,
  writeRows,
  admissionRows,
  policyRows,
  webhookRows,
  customRows,
  definitionRows,
  storeRows,
  patchRows,
  startRows,
  memoryRows,
  watchRows,
  fanOutRows,
  protobufRows,
  labelRows,
  stallRows,
  overloadRows,
  everythingRows,
  historyRows,
  collectionRows,
  orchctlRows,
  testingRows,
  clientRows,
  clusterRows,
  scaleRows,
  workerRows,
  kubeApiserverRows,
  growthRows,
]

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    json: { type: 'string' },
    plot: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
})
const chosen = groups.filter(({ name }) => name.includes(values.only ?? ''))
if (chosen.length === 0)
  fail(`no group is named ${values.only}: use one of ${groups.map(({ name }) => name).join(', ')}`)
for (const [tool, packageName] of [
  ['wrk', 'wrk'],
  ['h2load', 'nghttp2-client'],
] as const) {
  if (spawnSync(tool, ['--version']).error) fail(`${tool} is missing: on Debian it is in the package ${packageName}`)
}

const profiles = values['cpu-prof'] && resolve(values['cpu-prof'])
if (profiles) mkdirSync(profiles, { recursive: true })
const bench = new Bench(profiles)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void bench.close().then(() => process.exit(130)))
const rows: Row[] = []
try {
  for (const group of chosen) {
    process.stderr.write(`${group.name} ...\n`)
    rows.push(...(await group.run(bench)))
  }
} finally {
  await bench.close()
  if (rows.length > 0) console.log(printTable(rows))
  const series = growthSeries(rows)
  if (values.plot && series.length > 0) writeFileSync(values.plot, plot(series))
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ cpus: availableParallelism(), rows }, null, 2)}\n`)
}

function fail(message: string): never {
  console.error(`bench: ${message}`)
  process.exit(2)
}
