/**
 * Tests long-running commands of Debian's kubectl, which watch, wait or forward ports while objects change. The test
 * makes each change only after the output of kubectl shows that kubectl is ready, so nothing depends on timing.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serveUp } from '../support/in-process.ts'
import { kubectlFor, type Running } from '../support/kubectl-shell.ts'
import { withoutRootCa } from '../support/server.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])
const kubectl = kubectlFor(server)
const client = server.client()

/** Creates a namespace for a test, and returns the path of its ConfigMaps. */
async function namespace(name: string): Promise<string> {
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name } })).status, 201)
  return `/api/v1/namespaces/${name}/configmaps`
}

async function next(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next()
  assert.ok(!done, 'kubectl ended before its next line')
  return value
}

async function until(running: Running, sign: RegExp): Promise<void> {
  for (let line = await next(running.errors); !sign.test(line); ) line = await next(running.errors)
}

test('kubectl get -w prints existing objects and then every change', async (t) => {
  const path = await namespace('watched')
  await client.post(path, { metadata: { name: 'first' } })
  const watch = kubectl.start('get', 'cm', '-n', 'watched', '-w')
  t.after(() => watch.end())
  assert.equal(await next(watch.output), 'NAME    DATA   AGE')
  assert.equal(await next(watch.output), 'first   0      <age>')
  await client.put(`${path}/first`, { metadata: { name: 'first' }, data: { a: '1', b: '2' } })
  assert.equal(await next(watch.output), 'first   2      <age>')
  await client.post(path, { metadata: { name: 'second' } })
  assert.equal(await next(watch.output), 'second   0      <age>')
  await client.delete(`${path}/first`)
  assert.equal(await next(watch.output), 'first    2      <age>')
})

test('kubectl get -w -l prints objects that start or stop matching', async (t) => {
  const path = await namespace('selected')
  const labels = { tier: 'front' }
  await client.post(path, { metadata: { name: 'constant', labels } })
  const watch = kubectl.start('get', 'cm', '-n', 'selected', '-l', 'tier=front', '-w', '--output-watch-events')
  t.after(() => watch.end())
  assert.equal(await next(watch.output), 'EVENT      NAME       DATA   AGE')
  assert.equal(await next(watch.output), 'ADDED      constant   0      <age>')
  await client.post(path, { metadata: { name: 'moving', labels: { tier: 'back' } } })
  await client.put(`${path}/moving`, { metadata: { name: 'moving', labels } })
  assert.equal(await next(watch.output), 'ADDED      moving     0      <age>')
  await client.put(`${path}/moving`, { metadata: { name: 'moving', labels }, data: { a: '1' } })
  assert.equal(await next(watch.output), 'MODIFIED   moving     1      <age>')
  await client.put(`${path}/moving`, { metadata: { name: 'moving', labels: { tier: 'back' } } })
  assert.match(await next(watch.output), /^DELETED +moving +\d +<age>$/)
})

test('kubectl get -w prints one object with a template', async (t) => {
  const path = await namespace('templated')
  await client.post(path, { metadata: { name: 'one' }, data: { k: 'a' } })
  const watch = kubectl.start('get', 'cm', 'one', '-n', 'templated', '-w', '-v=6', '-o', 'jsonpath={.data.k}{"\\n"}')
  t.after(() => watch.end())
  assert.equal(await next(watch.output), 'a')
  // kubectl prints the object that it has read and skips the first event. It therefore misses changes between the read
  // and that event.
  await until(watch, /watch=true 200 OK/)
  await client.post(path, { metadata: { name: 'other' }, data: { k: 'z' } })
  await client.put(`${path}/one`, { metadata: { name: 'one' }, data: { k: 'b' } })
  assert.equal(await next(watch.output), 'b')
})

test('kubectl get -w -A prints changes in all namespaces', async (t) => {
  await client.post(await namespace('everywhere-1'), { metadata: { name: 'a', labels: { everywhere: '' } } })
  const watch = kubectl.start('get', 'cm', '-A', '-l', 'everywhere', '-w', '--no-headers')
  t.after(() => watch.end())
  assert.match(await next(watch.output), /^everywhere-1 +a +0 +<age>$/)
  await client.post(await namespace('everywhere-2'), { metadata: { name: 'b', labels: { everywhere: '' } } })
  assert.match(await next(watch.output), /^everywhere-2 +b +0 +<age>$/)
})

test('kubectl wait --for=delete exits when the object has been deleted', async (t) => {
  const path = await namespace('awaited')
  await client.post(path, { metadata: { name: 'going' } })
  const wait = kubectl.start('wait', '--for=delete', 'cm/going', '-n', 'awaited', '-v=6')
  t.after(() => wait.end())
  await until(wait, /watch=true 200 OK/)
  await client.delete(`${path}/going`)
  assert.equal(await next(wait.output), 'configmap/going condition met')
  assert.equal(await wait.ended(), 0)
})

test('kubectl wait --for=condition exits when the condition is met', async (t) => {
  await namespace('ready')
  const path = '/api/v1/namespaces/ready/status'
  const wait = kubectl.start('wait', '--for=condition=Tested=true', 'ns/ready', '-v=6')
  t.after(() => wait.end())
  await until(wait, /watch=true 200 OK/)
  const { body } = await client.get('/api/v1/namespaces/ready')
  const condition = { type: 'Tested', status: 'True', lastTransitionTime: body.metadata.creationTimestamp }
  const changed = await client.put(path, { ...body, status: { phase: 'Active', conditions: [condition] } })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(await next(wait.output), 'namespace/ready condition met')
  assert.equal(await wait.ended(), 0)
})

test('kubectl delete waits for finalizers', async (t) => {
  const path = await namespace('held')
  await client.post(path, { metadata: { name: 'held', finalizers: ['test/hold'] } })
  const deletion = kubectl.start('delete', 'cm', 'held', '-n', 'held')
  t.after(() => deletion.end())
  assert.equal(await next(deletion.output), 'configmap "held" deleted')
  const { body } = await client.get(`${path}/held`)
  assert.ok(body.metadata.deletionTimestamp)
  await client.put(`${path}/held`, { ...body, metadata: { ...body.metadata, finalizers: [] } })
  assert.equal(await deletion.ended(), 0)
  assert.equal((await client.get(`${path}/held`)).status, 404)
})

test('kubectl proxy forwards requests and watches', async (t) => {
  const path = await namespace('proxied')
  const proxy = kubectl.start('proxy', '--port=0')
  t.after(() => proxy.end())
  const url = (await next(proxy.output)).replace('Starting to serve on ', 'http://')
  const headers = { 'content-type': 'application/json' }
  const created = await fetch(url + path, { method: 'POST', headers, body: '{"metadata":{"name":"a"}}' })
  assert.equal(created.status, 201)
  const stop = new AbortController()
  t.after(() => stop.abort())
  const watch = await fetch(`${url}${path}?watch=1`, { signal: stop.signal })
  const { value } = await watch.body!.getReader().read()
  const event = JSON.parse(Buffer.from(value!).toString())
  assert.deepEqual([event.type, event.object.metadata.name], ['ADDED', 'a'])
})

test('a hanging kubectl command fails after its timeout, and its child processes are killed', async () => {
  const hasty = kubectlFor(server, 'hasty', 500)
  const started = performance.now()
  // The shell waits for `sleep`, which keeps the output open, like a kubectl process that never exits.
  await assert.rejects(hasty.run('echo $$; sleep 60 & sleep 61'), /ended by SIGKILL\n\d+\n$/)
  assert.ok(performance.now() - started < 30_000)
})
