// Lists 10,000 ConfigMaps several times with one of two clients and prints the time of each list as JSON:
//   list-program.mjs orch|client-node SERVER FOLDER
// FOLDER is where the other client is installed.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleIfStale } from '../scripts/bundle.mjs'

const lists = 6
const [client, server, folder] = process.argv.slice(2)
const token = process.env.BENCH_TOKEN
const list = client === 'orch' ? await ours() : await theirs()

const taken = []
for (let i = 0; i < lists; i++) taken.push(await once())
const [first, ...rest] = taken
const half = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const figures = { ms: half(rest.map(({ ms }) => ms)), cpuMs: half(rest.map(({ cpuMs }) => cpuMs)), firstMs: first.ms }
process.stdout.write(JSON.stringify(figures), () => process.exit())

async function once() {
  const began = performance.now()
  const cpu = process.cpuUsage()
  const items = await list()
  if (items.length !== 10_000 || items[0].metadata.name !== 'object-000000')
    throw new Error(`${items.length} objects were listed`)
  const { user, system } = process.cpuUsage(cpu)
  return { ms: performance.now() - began, cpuMs: (user + system) / 1000 }
}

async function ours() {
  await bundleIfStale('client')
  const { ConfigMap, connect } = await import('../dist/client.js')
  const orch = await connect({ server, token, insecure: true })
  return async () => (await orch.list(ConfigMap, { namespace: 'default', labelSelector: 'app=bench' })).items
}

async function theirs() {
  const require = createRequire(pathToFileURL(join(folder, 'x.js')))
  const { CoreV1Api, KubeConfig } = await import(pathToFileURL(require.resolve('@kubernetes/client-node')))
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'bench', server, skipTLSVerify: true }, { name: 'bench', token })
  const core = config.makeApiClient(CoreV1Api)
  return async () => (await core.listNamespacedConfigMap({ namespace: 'default', labelSelector: 'app=bench' })).items
}
