/**
 * Soak test with all optional features enabled: auditing every request to a rotated file, fairness, history, encryption
 * at rest, and occasional scrapes of the metrics. Queues fill and drain, watches break and resume, and clients
 * reconnect with certificates. No request may fail, memory must stabilize, and the store and audit files must stay
 * within their limits. The long variant takes ten minutes, and the short variant takes seconds.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { HttpClient } from '../support/http-client.ts'
import { pairOf } from '../support/identities.ts'
import { long } from '../support/long.ts'
import { ownMemory } from '../support/memory.ts'
import { configMaps } from '../support/paths.ts'
import { type ServerHandle, startServer } from '../support/server.ts'

const seconds = long ? 600 : 4
const sliceMs = long ? 15_000 : 1000
const queues = 4
const watches = 4
const perQueue = 25
const mebibyte = 2 ** 20
const auditMegabytes = 5
const auditBackups = 2

/**
 * Collect garbage periodically, because only retained memory counts. The memory of closed connections is released only
 * when their small objects are collected, which V8 delays while its own heap is small.
 *
 * Limit the C library to two arenas, as the systemd unit and the image in `deploy/` do. With one arena for each of a
 * dozen threads, freed memory stays in its arena, and memory use keeps growing.
 */
const collector = 'data:text/javascript,setInterval(()=>globalThis.gc?.(),5000).unref()'

/** Operation counts, reported with the result. */
const done = { writes: 0, events: 0, watches: 0, handshakes: 0, scrapes: 0 }

test('memory and files stay stable during churn with all features enabled', { timeout: 900_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-soak-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const env = { NODE_OPTIONS: `--expose-gc --import=${collector}` }
  const server = await startServer(t, everythingOn(directory), env)
  const stop = new AbortController()
  const { signal } = stop
  const churn = [
    ...Array.from({ length: queues }, (_, i) => fillAndEmpty(server.client(), `queue-${i}`, signal)),
    ...Array.from({ length: watches }, (_, i) => watchAgain(server.client(), 50 * (i + 1), signal)),
    connectAgain(server, signal),
  ]
  const failed = Promise.all(churn)
  // The error is reported below. Until then, no code awaits the promise.
  failed.catch(() => stop.abort())
  const samples = await sample(server, directory, signal)
  stop.abort()
  await failed
  judge(t, samples)
  assert.doesNotMatch(server.output(), / (error|warning) /)
  assert.equal(await server.stop(), 0)
})

function everythingOn(directory: string): string[] {
  const policy = { apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
  const key = { name: 'soak', secret: randomBytes(32).toString('base64') }
  const encryption = {
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['configmaps'], providers: [{ aesgcm: { keys: [key] } }, { identity: {} }] }],
  }
  const policyFile = join(directory, 'policy.json')
  const encryptionFile = join(directory, 'encryption.json')
  writeFileSync(policyFile, JSON.stringify(policy))
  writeFileSync(encryptionFile, JSON.stringify(encryption), { mode: 0o600 })
  return [
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${join(directory, 'audit', 'audit.log')}`,
    `--audit-log-maxsize=${auditMegabytes}`,
    `--audit-log-maxbackup=${auditBackups}`,
    // With this retention, the retained data reaches its full size before the middle of the soak.
    '--history-retention=1m',
    '--history-duration=1m',
    `--encryption-provider-config=${encryptionFile}`,
  ]
}

/** Creates objects one by one and deletes them immediately, a pattern that once made LMDB files grow. */
async function fillAndEmpty(client: HttpClient, queue: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (let i = 0; i < perQueue && !signal.aborted; i++) {
      const metadata = { name: `${queue}-${i}`, labels: { queue } }
      const { status, text } = await client.post(configMaps, {
        metadata,
        data: { text: 'x'.repeat((i * 997) % 4000) },
      })
      assert.equal(status, 201, text)
      done.writes++
    }
    const { status, text } = await client.delete(`${configMaps}?labelSelector=queue%3D${queue}`)
    assert.equal(status, 200, text)
    done.writes++
  }
}

/** Breaks a watch after the given number of events, and resumes it. */
async function watchAgain(client: HttpClient, events: number, signal: AbortSignal): Promise<void> {
  const list = await client.get(`${configMaps}?limit=1`)
  let version: string = list.body.metadata.resourceVersion
  while (!signal.aborted) {
    const end = new AbortController()
    let remaining = events
    done.watches++
    for await (const { type, object } of client.watch(
      `${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`,
      AbortSignal.any([signal, end.signal]),
    )) {
      assert.notEqual(type, 'ERROR', JSON.stringify(object))
      version = object.metadata.resourceVersion
      done.events++
      if (--remaining === 0) end.abort()
    }
  }
}

/** Connects with a certificate, each time on a new connection. */
async function connectAgain(server: ServerHandle, signal: AbortSignal): Promise<void> {
  const ca = pairOf(server, 'ca').certificate
  const { certificate, key } = pairOf(server, 'admin')
  while (!signal.aborted) {
    const client = new HttpClient({ port: server.port, token: '', ca, cert: certificate, key })
    const { status } = await client.get('/api/v1/namespaces/default')
    client.close()
    assert.equal(status, 200)
    done.handshakes++
    await delay(20)
  }
}

interface Sample {
  readonly memory: number
  readonly store: number
  readonly audit: number
}

async function sample(server: ServerHandle, directory: string, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = []
  const client = server.client()
  for (const end = performance.now() + seconds * 1000; performance.now() < end && !signal.aborted; ) {
    await delay(sliceMs, undefined, { signal }).catch(() => {})
    const { status, text } = await client.get('/metrics')
    assert.equal(status, 200)
    assert.match(text, /^apiserver_audit_event_total [1-9]/m)
    assert.doesNotMatch(text, /^apiserver_audit_error_total\{.*\} [1-9]/m)
    done.scrapes++
    samples.push({
      memory: ownMemory(server.process.pid!),
      store: sizeOf(join(server.directory, 'data')),
      audit: sizeOf(join(directory, 'audit')),
    })
  }
  return samples
}

/**
 * Returns the total size of all files below a directory, in bytes. Files that disappear in the meantime are ignored.
 */
function sizeOf(directory: string): number {
  let size = 0
  for (const file of readdirSync(directory, { recursive: true, withFileTypes: true }))
    if (file.isFile()) size += statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0
  return size
}

/**
 * Warm-up time as a fraction of the run. During this time, caches, history and the pools of the C library fill up,
 * which takes five minutes at hundreds of writes a second.
 */
const warmUp = 0.6

/**
 * Splits the time after the warm-up into two halves. The usage in the second half must not exceed the usage in the
 * first half.
 */
function judge(t: TestContext, samples: readonly Sample[]): void {
  const half = Math.floor((samples.length * (1 - warmUp)) / 2)
  const middle = samples.slice(-2 * half, -half)
  const last = samples.slice(-half)
  const most = (part: readonly Sample[], of: keyof Sample) => Math.max(...part.map((each) => each[of])) / mebibyte
  const low = (part: readonly Sample[], of: keyof Sample) => Math.min(...part.map((each) => each[of])) / mebibyte
  const figures = (of: keyof Sample) =>
    `${low(middle, of).toFixed(1)} to ${most(middle, of).toFixed(1)}, then ${low(last, of).toFixed(1)} to ${most(last, of).toFixed(1)}`
  t.diagnostic(JSON.stringify(done))
  t.diagnostic(`MiB of memory each time: ${samples.map(({ memory }) => Math.round(memory / mebibyte)).join(' ')}`)
  for (const part of ['memory', 'store', 'audit'] as const) t.diagnostic(`MiB of ${part}: ${figures(part)}`)
  assert.ok(done.writes > 100 && done.events > 100 && done.handshakes > 10)
  assert.ok(most(last, 'audit') < auditMegabytes * (auditBackups + 1) + 1, 'audit logs are not thinned out')
  if (!long) return
  const minutes = (seconds * (1 - warmUp)) / 2 / 60
  assert.ok(low(last, 'memory') <= low(middle, 'memory') + minutes + 4, 'memory grows by more than 1 MiB a minute')
  assert.ok(most(last, 'store') <= 1.25 * most(middle, 'store') + 4, 'the store grows')
}
