// Measures `orch/testing` in a separate process with the bundle that users import, and prints the figures as JSON.
// Times are medians in milliseconds for this process only.
import { setTimeout as delay } from 'node:timers/promises'
import { bundleIfStale } from '../scripts/bundle.mjs'

await bundleIfStale('testing')
const { ConfigMap } = await import('../dist/client.js')
const { startTestServer } = await import('../dist/testing.js')

const rounds = 30
const mega = 1024 ** 2

const figures = {
  ...(await firstStart()),
  ...(await starts()),
  ...(await resets()),
  ...(await twenty()),
  ...(await controllerTests()),
}
process.stdout.write(JSON.stringify(figures))

function configMap(name) {
  return { metadata: { namespace: 'default', name }, data: { k: 'v' } }
}

async function firstStart() {
  const [coldMs] = await startAndWrite()
  return { coldMs }
}

async function startAndWrite() {
  const began = performance.now()
  const cpu = process.cpuUsage()
  const server = await startTestServer()
  await server.client.create(ConfigMap, configMap('a'))
  const took = [performance.now() - began, processorMs(cpu)]
  await server.close()
  return took
}

async function starts() {
  const took = []
  for (let i = 0; i < rounds; i++) took.push(await startAndWrite())
  return { startMs: half(took.map(([ms]) => ms)), startCpuMs: half(took.map(([, ms]) => ms)) }
}

async function resets() {
  const server = await startTestServer()
  const took = []
  for (let i = 0; i < rounds; i++) {
    for (let j = 0; j < 20; j++) await server.client.create(ConfigMap, configMap(`a-${j}`))
    const began = performance.now()
    await server.reset()
    took.push(performance.now() - began)
  }
  await server.close()
  return { resetMs: half(took), slowestResetMs: Math.max(...took) }
}

/** Memory of each of twenty idle servers. */
async function twenty() {
  const before = await memory()
  const servers = []
  for (let i = 0; i < 20; i++) {
    const server = await startTestServer()
    await server.client.create(ConfigMap, configMap('a'))
    servers.push(server)
  }
  await Promise.all(servers.map((server) => server.settled()))
  const each = ((await memory()) - before) / 20
  await Promise.all(servers.map((server) => server.close()))
  servers.length = 0
  return { eachMb: each / mega, leftMb: ((await memory()) - before) / mega }
}

/** Closed servers are freed only a little later. */
async function memory() {
  await delay(300)
  gc()
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * A controller that labels config maps runs throughout. Each of 100 tests creates a config map and waits for its label.
 */
async function controllerTests() {
  const server = await startTestServer()
  const stop = new AbortController()
  const { client } = server.user('labeller', { groups: ['system:masters'] })
  const running = label(client, stop.signal).catch(() => {})
  const began = performance.now()
  const cpu = process.cpuUsage()
  for (let i = 0; i < 100; i++) {
    await server.reset()
    const labelled = server.calls.next({ verb: 'patch', name: 'a', user: 'labeller' })
    await server.client.create(ConfigMap, configMap('a'))
    await labelled
    const { metadata } = await server.client.get(ConfigMap, { namespace: 'default', name: 'a' })
    if (metadata.labels?.seen !== 'true') throw new Error('the controller did not label it')
  }
  const suite = { suiteMs: performance.now() - began, suiteCpuMs: processorMs(cpu) }
  stop.abort()
  await running
  await server.close()
  return suite
}

async function label(client, signal) {
  const patch = { merge: { metadata: { labels: { seen: 'true' } } } }
  for await (const { type, object } of client.watch(ConfigMap, { namespace: 'default', signal }))
    if (type === 'ADDED' && object.metadata.name === 'a')
      await client.patch(ConfigMap, { namespace: 'default', name: 'a' }, { patch }).catch(() => {})
}

function processorMs(began) {
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

function half(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
