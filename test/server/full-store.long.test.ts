/**
 * Tests a server with a full disk. The server rejects new data, serves everything else, and restarts while the disk is
 * still full.
 */
import assert from 'node:assert/strict'
import { closeSync, openSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { long, longTest } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { mountSmallDevice } from '../support/small-device.ts'
import { untilTrue } from '../support/until.ts'

/** Starts a server whose data directory is on a small device. */
async function startOnSmallDevice(
  t: TestContext,
  megabytes: number,
): Promise<{ server: ServerHandle; device: string }> {
  const usual = process.env.TMPDIR
  const { directory: device, unmount } = mountSmallDevice(megabytes)
  process.env.TMPDIR = device
  try {
    const server = await startServer({
      after: (run) => t.after(() => run().finally(unmount)),
    })
    return { server, device }
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
}

/** Fills the device to the last byte. */
function fillDevice(directory: string): void {
  const file = openSync(join(directory, 'filler'), 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096))
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(file)
  }
  assert.equal(statfsSync(directory).bavail, 0)
}

const data = { text: 'x'.repeat(100_000) }
/** The content of a large object. A few such objects fill the device. */
const much = { text: 'x'.repeat(400_000) }

for (const shutdown of long ? (['stop', 'kill'] as const) : (['kill'] as const))
  test(`a full store restarts after a ${shutdown}, serves reads and deletes, and reports how to free space`, async (t) => {
    const { server, device } = await startOnSmallDevice(t, 20)
    const client = server.client()
    const create = (name: string) => client.post(configMaps, { metadata: { name }, data: much })
    writeFileSync(join(device, 'other'), Buffer.alloc(4 * 1024 * 1024))
    let count = 0
    while ((await create(`c${count}`)).status === 201) count++
    fillDevice(device)
    assert.equal((await create('more')).status, 507)
    await server[shutdown]()
    await server.restart()
    assert.match(server.output(), /not enough space in .*data: \d+ bytes are free, \d+ are required/)
    assert.equal((await client.get('/readyz')).status, 200)
    assert.equal((await client.get(configMaps)).body.items.length, count)
    assert.equal((await create('more')).status, 507)
    for (let i = 0; i < count; i++) assert.equal((await client.delete(`${configMaps}/c${i}`)).status, 200, `c${i}`)
    rmSync(join(device, 'other'))
    assert.equal((await create('more')).status, 201)
  })

longTest(
  'a full store without a lock file restarts if there is room for the file, and reports it otherwise',
  async (t) => {
    const { server, device } = await startOnSmallDevice(t, 24)
    await server.stop()
    rmSync(join(server.directory, 'data/lock.mdb'))
    fillDevice(device)
    await assert.rejects(server.restart(), /ended with 1 .*\n.*not enough space in .*; cannot create .*lock.mdb/s)
    truncateSync(join(device, 'filler'), statSync(join(device, 'filler')).size - 2 * 8192)
    await server.restart()
    assert.equal((await server.client().get('/readyz')).status, 200)
  },
)

test('a full store is reported, and accepts writes again after objects are deleted', async (t) => {
  const { server, device } = await startOnSmallDevice(t, 20)
  const client = server.client()
  const create = (name: string, content: object = data) =>
    client.post(configMaps, { metadata: { name }, data: content })
  const storeLine = async () =>
    (await client.get('/readyz?verbose')).text.split('\n').find((line) => line.includes('store'))
  let count = 0
  while ((await create(`c${count}`)).status === 201) count++
  fillDevice(device)
  while ((await create(`s${count}`, { text: 'x'.repeat(1000) })).status === 201) count++
  assert.match(
    (await storeLine())!,
    /^\[\+\]store ok, but it has been full since .*: writes are rejected, deletes are allowed; free space/,
  )
  assert.equal((await client.get('/readyz')).status, 200)
  const isFull = async () => /^orch_store_full (\d)$/m.exec((await client.get('/metrics')).text)?.[1]
  assert.equal(await isFull(), '1')
  const size = Number(/^etcd_db_total_size_in_bytes (\d+)$/m.exec((await client.get('/metrics')).text)?.[1])
  assert.ok(size > 1024 * 1024 && size <= 20 * 1024 * 1024, `the store has ${size} bytes`)
  assert.match(server.output(), /the store is full: writes are rejected, deletes are allowed; free space on the disk/)
  for (let i = 0; i < 5; i++) assert.equal((await client.delete(`${configMaps}/c${i}`)).status, 200)
  assert.equal((await create('small', {})).status, 201)
  assert.equal((await create('large')).status, 201)
  assert.equal(await storeLine(), '[+]store ok')
  assert.equal(await isFull(), '0')
  assert.match(server.output(), /the store accepts writes again/)
  assert.match(server.output(), /old object revisions were deleted to make space/)
})

const inLongForm = long ? test : () => {}

inLongForm('writes succeed again after a minute of load on a full disk', { timeout: 300_000 }, async (t) => {
  const { server, device } = await startOnSmallDevice(t, 16)
  const { pid } = server.process
  const client = server.client()
  const create = (name: string, content: object) => client.post(configMaps, { metadata: { name }, data: content })
  for (let i = 0; (await create(`c${i}`, much)).status === 201; i++);
  fillDevice(device)
  const small: string[] = []
  for (let i = 0; (await create(`s${i}`, { text: 'x'.repeat(1000) })).status === 201; i++) small.push(`s${i}`)
  const { body } = await client.get(configMaps)
  const watch = await countDeletions(server, body.metadata.resourceVersion)
  const counts = await loadFor(60_000, {
    refused: async () => {
      const { status, body } = await create('more', much)
      assert.deepEqual([status, body.kind], [507, 'Status'])
    },
    read: async () => {
      assert.equal((await client.get(`${configMaps}/${small[0]}`)).status, 200)
      assert.equal((await client.get('/readyz')).status, 200)
    },
    // Delete one object per second, which does not free enough space for the writes.
    deleted: async () => {
      if (small.length > 1) assert.equal((await client.delete(`${configMaps}/${small.pop()}`)).status, 200)
      await pause(1_000)
    },
  })
  const remainingObjects: { metadata: { name: string } }[] = (await client.get(configMaps)).body.items
  await untilTrue(async () => watch.deletions() === body.items.length - remainingObjects.length)
  await watch.stop()
  rmSync(join(device, 'filler'))
  const freed = performance.now()
  await untilTrue(async () => (await create('more', {})).status === 201)
  const backMs = performance.now() - freed
  t.diagnostic(`${JSON.stringify(counts)}, writing again after ${Math.round(backMs)} ms`)
  assert.ok(backMs <= 5_000, `nothing was written for ${backMs} ms after there was room`)
  assert.deepEqual([server.process.pid, server.process.exitCode], [pid, null])
})

/** Runs all actions repeatedly and concurrently. Returns how often each action ran. */
async function loadFor<K extends string>(
  ms: number,
  things: Record<K, () => Promise<void>>,
): Promise<Record<K, number>> {
  const end = performance.now() + ms
  const repeat = async ([name, act]: [string, () => Promise<void>]): Promise<[string, number]> => {
    let count = 0
    for (; performance.now() < end; count++) await act()
    return [name, count]
  }
  return Object.fromEntries(await Promise.all(Object.entries<() => Promise<void>>(things).map(repeat))) as Record<
    K,
    number
  >
}

async function countDeletions(server: ServerHandle, version: string) {
  let count = 0
  const end = new AbortController()
  const watching = (async () => {
    const path = `${configMaps}?watch=1&resourceVersion=${version}`
    for await (const { type } of server.client().watch(path, end.signal)) if (type === 'DELETED') count++
  })()
  return {
    deletions: () => count,
    stop: async () => {
      end.abort()
      await watching
    },
  }
}
