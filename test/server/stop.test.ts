/** Stopping: requests under way are answered, watches end in order, everything is there at the next start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSession, openSocket, statusesOf, untilClosed } from '../tools/raw-http.ts'
import { startServer } from '../tools/server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const admin = 'Authorization: Bearer admin-token'

test('SIGTERM ends in order, with a watch open and requests under way', { timeout: 60_000 }, async (t) => {
  const server = await startServer(t, ['--shutdown-grace-period=20s'])
  const client = server.client()
  const { body: first } = await client.post(configMaps, { metadata: { name: 'first' } })

  const events: string[] = []
  const watching = (async () => {
    const path = `${configMaps}?watch=1&resourceVersion=0`
    for await (const event of client.watch(path, new AbortController().signal)) events.push(event.object.metadata.name)
  })()
  const silent = await openSocket(server, 'http/1.1')
  const idle = untilClosed(silent)
  const session = openSession(server)
  t.after(() => session.destroy())

  // Half a request in each protocol; the other half is sent when the server is already stopping.
  const body = JSON.stringify({ metadata: { name: 'second' } })
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  const head = `Host: x\r\n${admin}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(`POST ${configMaps} HTTP/1.1\r\n${head}${body.slice(0, 10)}`)
  const update = JSON.stringify({ metadata: { name: 'first' }, data: { k: 'v' } })
  const stream = session.request({
    ':method': 'PUT',
    ':path': `${configMaps}/first`,
    authorization: 'Bearer admin-token',
  })
  stream.write(update.slice(0, 10))
  await client.get(`${configMaps}/first`)

  const stopped = server.stop()
  await watching
  await idle
  socket.write(body.slice(10))
  stream.end(update.slice(10))
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (headers) => resolve(headers[':status']))
    stream.on('error', reject)
    stream.resume()
  })
  assert.equal(status, 200)
  assert.deepEqual(statusesOf(await answered), [201])
  assert.equal(await stopped, 0)
  assert.deepEqual(events, ['first'])
  assert.doesNotMatch(server.output(), / error /)

  await server.restart()
  const { items } = (await client.get(configMaps)).body
  assert.deepEqual(
    items.map((item: typeof first) => item.metadata.name),
    ['first', 'second'],
  )
  assert.equal(items[0].metadata.uid, first.metadata.uid)
  assert.deepEqual(items[0].data, { k: 'v' })
})
