/**
 * Measures the cost of admission webhooks: creating a ConfigMap with one validating webhook that responds immediately,
 * compared with no webhook. Also measures creating a ConfigMap with 50 configurations that match nothing, and the
 * latency of other requests while a webhook is responding with expensive patches.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { objectJson } from '../objects.ts'
import type { Bench } from '../servers.ts'
import { atLeast, quantile, type Row, short } from '../table.ts'
import { waitsDuring } from './stalls.ts'

const connections = 64
const script = join(import.meta.dirname, '../writes.lua')
const configurations = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'

function creates(namespace: string): Drive {
  let driven = 0
  return (side, seconds) => {
    const scriptArgs = ['create', `r${driven++}-`, objectJson('NAME', 'TEXT')]
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    return http1(path, { connections, script, scriptArgs })(side, seconds)
  }
}

async function startBackend() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../webhook-backend.mjs')])
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { clientConfig: JSON.parse(line.toString('utf8')) as ClientConfig, stop: () => child.kill() }
}

function webhook(clientConfig: object, rule: object, more: object) {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...rule }]
  return {
    name: 'bench.example.com',
    clientConfig,
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  }
}

interface ClientConfig {
  readonly url: string
  readonly caBundle: string
}

type Post = (path: string, object: object) => Promise<unknown>

interface Case {
  readonly name: string
  readonly bound: number
  readonly prepare: (post: Post, clientConfig: object) => Promise<void>
}

const cases: readonly Case[] = [
  {
    name: 'create with one validating webhook',
    bound: 0.5,
    prepare: async (post, clientConfig) => {
      await post(configurations, { metadata: { name: 'asked' }, webhooks: [webhook(clientConfig, {}, {})] })
    },
  },
  {
    name: 'create beside 50 configurations that match nothing',
    bound: 0.98,
    prepare: async (post, clientConfig) => {
      for (let i = 0; i < 50; i++)
        await post(configurations, {
          metadata: { name: `unmatched-${i}` },
          webhooks: [webhook(clientConfig, { resources: ['things'] }, {})],
        })
    },
  },
]

export const webhookRows = {
  name: 'webhooks',
  async run(bench: Bench): Promise<Row[]> {
    const backend = await startBackend()
    const rows: Row[] = []
    for (const each of cases) rows.push(await measure(bench, each, backend.clientConfig))
    for (const path of ['huge', 'quadratic']) rows.push(await waitsBeside(bench, path, backend.clientConfig))
    backend.stop()
    return rows
  },
}

/** Measures one case. Each case uses two new servers, so that both contain the same number of objects. */
async function measure(bench: Bench, { name, bound, prepare }: Case, clientConfig: object): Promise<Row> {
  const [plain, busy] = [
    await bench.startOrch(bench.newDirectory()),
    await bench.startOrch(bench.newDirectory()),
  ] as const
  const client = await Client.connect(busy)
  await prepare((path, object) => client.send('POST', path, JSON.stringify(object)), clientConfig)
  client.close()
  const { ours, bare } = await compare(
    { side: busy, drive: creates('default') },
    { side: plain, drive: creates('default') },
  )
  await Promise.all([plain.stop(), busy.stop()])
  return { name, ...compared(bound, ours, bare), note: limits(ours, bare) }
}

const attackers = 4
const attackMs = 10_000

/**
 * Measures the latency of short requests from one client while four clients create objects with a mutating webhook. At
 * first, the webhook responds immediately and without a patch. Then it responds with an expensive patch. The patch may
 * fail, so the circuit breaker opens as usual.
 */
async function waitsBeside(bench: Bench, path: string, { url, caBundle }: ClientConfig): Promise<Row> {
  const bare = await waitsWith(bench, { url, caBundle })
  const ours = await waitsWith(bench, { url: url.replace('/allow', `/${path}`), caBundle })
  return {
    name: `p99 of other requests beside a ${path} patch of a webhook`,
    ours: `${short(ours.p99)} ms`,
    bare: `${short(bare.p99)} ms`,
    ...atLeast(0.5, bare.p99 / ours.p99),
    note: `bare: the webhook answers at once; longest ${short(ours.longest)} and ${short(bare.longest)} ms, creates ${ours.created} and ${bare.created}`,
    figures: { ours: ours.p99, bare: bare.p99, longest: ours.longest, bareLongest: bare.longest },
  }
}

async function waitsWith(bench: Bench, clientConfig: ClientConfig) {
  const side = await bench.startOrch(bench.newDirectory())
  const client = await Client.connect(side)
  const other = await Client.connect(side)
  const webhooks = [webhook(clientConfig, {}, { failurePolicy: 'Ignore', timeoutSeconds: 5 })]
  const mutating = configurations.replace('validating', 'mutating')
  await client.send('POST', mutating, JSON.stringify({ metadata: { name: 'asked' }, webhooks }))
  let created = 0
  const createFor = async (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end)
      await other.send('POST', '/api/v1/namespaces/default/configmaps', objectJson(`made-${created++}`, 'x'))
  }
  const waits = await waitsDuring(client, () =>
    Promise.all(Array.from({ length: attackers }, () => createFor(attackMs))),
  )
  client.close()
  other.close()
  await side.stop()
  return { p99: quantile(waits, 0.99), longest: Math.max(...waits), created }
}
