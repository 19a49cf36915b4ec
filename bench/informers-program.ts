/**
 * Starts 50 informers. When all of them have received the objects, prints the number of requests and bytes, the elapsed
 * time and the CPU time as JSON:
 *
 *     informers-program.ts SERVER true|false
 *
 * The second argument specifies whether the informers request streaming lists. Each informer follows all ConfigMaps
 * with its own field selector, because informers with the same selection share one informer.
 */
import { Informers } from '../src/client/informers/informers.ts'
import { HttpTransport } from '../src/client/node/http-transport.ts'
import { ConfigMap } from '../src/client/requests/built-in-kinds.ts'
import { Client } from '../src/client/requests/client.ts'
import type { Transport } from '../src/client/requests/transport.ts'

const count = 50
const [server = '', streamingLists] = process.argv.slice(2)
const http = new HttpTransport({ server, insecure: true, token: () => process.env.BENCH_TOKEN ?? '' })

let requests = 0
let bytes = 0
const counting: Transport = async (request) => {
  requests++
  const { body, ...response } = await http.send(request)
  return { ...response, body: counted(body) }
}

async function* counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    bytes += chunk.length
    yield chunk
  }
}

const stop = new AbortController()
const client = new Client(counting)
await client.read('/version')
requests = 0
bytes = 0
const informers = new Informers(client, {
  signal: stop.signal,
  onError: (error) => process.stderr.write(`${error}\n`),
  streamingLists: streamingLists === 'true',
})
const began = performance.now()
const cpu = process.cpuUsage()
const all = Array.from({ length: count }, (_, i) => informers.of(ConfigMap, { fieldSelector: `metadata.name!=x${i}` }))
await informers.synced()
const ms = performance.now() - began
const { user, system } = process.cpuUsage(cpu)
// Wait for the watch requests, which informers send separately after a plain list.
await new Promise((resolve) => setTimeout(resolve, 500))
if (all.some(({ size }) => size < 1000)) throw new Error('an informer lacks objects')
process.stdout.write(JSON.stringify({ requests, bytes, ms, clientCpu: (user + system) / 1000 }), () => process.exit())
