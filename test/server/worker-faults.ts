/** Terminates workers during writes, in several ways, and records the acknowledged writes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { HttpClient } from '../support/http-client.ts'
import { configMaps } from '../support/paths.ts'
import { type Ending, root, type ServerHandle, startServer } from '../support/server.ts'
import { until, untilTrue } from '../support/until.ts'

const objectNamed = (name: string) => ({ metadata: { name }, data: { value: name } })

/** Returns the number of created ConfigMaps from the server's metrics. */
export async function creates(client: HttpClient): Promise<number> {
  const { text } = await client.get('/metrics')
  const line = /^apiserver_request_total\{code="201".*resource="configmaps".*verb="POST".*\} (\d+)$/m.exec(text)
  return Number(line?.[1] ?? 0)
}

/**
 * A server whose workers a test can terminate, for example with `end('1 exit')` or `end('0 terminate,1 terminate')`.
 */
export interface Fragile {
  readonly server: ServerHandle
  end(how: string): void
}

export async function startFragile(t: Ending, flags: readonly string[] = [], workers = 2): Promise<Fragile> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-workers-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const control = join(directory, 'end')
  const hook = pathToFileURL(join(root, 'test/support/end-worker.mjs')).href
  const server = await startServer(t, [`--workers=${workers}`, ...flags], {
    NODE_OPTIONS: `--import=${hook} --max-old-space-size=150`,
    ORCH_END_WORKER: control,
  })
  const end = (how: string) => {
    writeFileSync(control, how)
    server.process.kill('SIGWINCH')
  }
  return { server, end }
}

const writePauseMs = 10

/** Writes on its own connections until stopped and records acknowledged writes. A lost response is not a lost write. */
export function writeAll(fragile: ServerHandle, prefix: string) {
  const acknowledged = new Map<string, string>()
  let stopped = false
  const write = async (writer: number) => {
    let client = fragile.client()
    for (let i = 0; !stopped; i++) {
      const name = `${prefix}-${writer}-${i}`
      await pause(writePauseMs)
      const made = await client.post(configMaps, objectNamed(name)).catch(() => undefined)
      if (made === undefined) {
        client.close()
        client = fragile.client()
      } else if (made.status === 201) acknowledged.set(name, made.body.metadata.resourceVersion)
    }
    client.close()
  }
  const writers = Array.from({ length: 6 }, (_, writer) => write(writer))
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await Promise.all(writers)
    },
  }
}

export async function assertAllThere(fragile: ServerHandle, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const client = fragile.client()
  const { body } = await client.get(configMaps)
  const stored = new Map<string, string>(
    body.items.map(({ metadata }: { metadata: { name: string; resourceVersion: string } }) => [
      metadata.name,
      metadata.resourceVersion,
    ]),
  )
  for (const [name, version] of acknowledged) assert.equal(stored.get(name), version, name)
  assert.equal(new Set(acknowledged.values()).size, acknowledged.size)
  client.close()
}

export const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

/** Terminates a worker during writes and waits for its replacement. Returns the acknowledged writes. */
export async function replaceOne(
  fragile: ServerHandle,
  end: () => void,
  round: number,
): Promise<ReadonlyMap<string, string>> {
  const writing = writeAll(fragile, `round-${round}`)
  await untilTrue(async () => writing.acknowledged.size > 20)
  end()
  await until(
    async () => fragile.output(),
    (output) => countOf(output, /replaced a worker that exited/g) === round,
    60_000,
  )
  const before = writing.acknowledged.size
  await untilTrue(async () => writing.acknowledged.size > before + 20)
  await writing.stop()
  return writing.acknowledged
}

/**
 * Terminates the store thread, so that the server becomes unready and the process exits. Returns the acknowledged
 * writes.
 */
export async function endStore(fragile: ServerHandle, end: () => void): Promise<ReadonlyMap<string, string>> {
  const writing = writeAll(fragile, 'hub')
  try {
    await untilTrue(async () => writing.acknowledged.size > 20)
    const client = fragile.client()
    const exit = once(fragile.process, 'exit', { signal: AbortSignal.timeout(60_000) })
    assert.equal((await client.get('/readyz')).status, 200)
    end()
    const { status, text } = await until(
      () => client.get('/readyz'),
      (ready) => ready.status !== 200,
    )
    assert.equal(status, 503)
    assert.match(text, /store failed: writes are no longer possible: the store thread has exited/)
    await exit
    client.close()
  } finally {
    await writing.stop()
  }
  return writing.acknowledged
}
