/**
 * Tests the Service for the API servers. The Service exists from the start and has the first address in the range. The
 * Endpoints of the Service list the running servers of the store. Both objects are recreated after a deletion.
 */
import assert from 'node:assert/strict'
import { before, describe, it, test } from 'node:test'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import type { ApiObject } from '../../src/api/model/object.ts'
import { endOfFile } from '../support/end-of-file.ts'
import { type Cluster, startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { type Restartable, serve } from '../support/in-process.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const services = '/api/v1/namespaces/default/services'
const endpoints = '/api/v1/namespaces/default/endpoints'

type Endpoints = ApiObject & {
  subsets?: { addresses: { ip: string }[]; ports: { name: string; port: number; protocol: string }[] }[]
}

/** Returns all listed endpoints as `192.0.2.1:6443`. */
function placesOf({ subsets = [] }: Endpoints): string[] {
  return subsets.flatMap(({ addresses, ports }) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
  )
}

type Slice = ApiObject & { endpoints: { addresses: string[] }[]; ports: { port: number }[] }

/** Returns the endpoints of all slices. */
async function slicedPlaces(client: HttpClient): Promise<string[]> {
  const label = encodeURIComponent('orch.io/service-name=orch')
  const { body } = await client.get(`/apis/discovery.orch.io/v1/endpointslices?labelSelector=${label}`)
  return (body.items as Slice[])
    .flatMap(({ endpoints: all, ports: [first] }) => all.map(({ addresses: [ip] }) => `${ip}:${first!.port}`))
    .sort()
}

/** Resolves when the Endpoints list exactly the given servers. Rejects after a timeout. */
async function untilListed(client: HttpClient, places: readonly string[], withinMs = 60_000): Promise<void> {
  const signal = AbortSignal.timeout(withinMs)
  let last: readonly string[] = []
  const isIt = (object: Endpoints) => {
    last = placesOf(object)
    return object.metadata.name === 'orch' && last.toSorted().join() === places.toSorted().join()
  }
  const { body } = await client.get(endpoints)
  if (body.items.some(isIt)) return
  const path = `${endpoints}?watch=1&resourceVersion=${body.metadata.resourceVersion}`
  for await (const { object } of client.watch(path, signal)) if (isIt(object as Endpoints)) return
  assert.deepEqual(last, places)
}

test('the kubernetes Service of the API server exists from the start and is recreated after a deletion', async (t) => {
  const server = await serve(t, [
    '--profile=kubernetes',
    '--service-cluster-ip-range=10.7.0.0/24',
    '--advertise-address=192.0.2.7',
  ])
  const client = server.client()
  const { body } = await client.get(`${services}/kubernetes`)
  assert.deepEqual(body.metadata.labels, { component: 'apiserver', provider: 'kubernetes' })
  const { type, clusterIP, ports, selector } = body.spec
  assert.deepEqual([type, clusterIP, selector], ['ClusterIP', '10.7.0.1', undefined])
  assert.deepEqual(ports, [{ name: 'https', protocol: 'TCP', port: 443, targetPort: server.port }])

  const seen = client.watch(
    `${services}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
    AbortSignal.timeout(120_000),
  )
  assert.equal((await client.delete(`${services}/kubernetes`)).status, 200)
  const messages: string[] = []
  for await (const { type: what, object } of seen) {
    messages.push(`${what} ${(object as unknown as { spec: { clusterIP: string } }).spec.clusterIP}`)
    if (messages.length === 2) break
  }
  assert.deepEqual(messages, ['DELETED 10.7.0.1', 'ADDED 10.7.0.1'])

  const { body: listed } = await client.get(`${endpoints}/kubernetes`)
  assert.deepEqual(placesOf(listed), [`192.0.2.7:${server.port}`])
  assert.deepEqual(listed.subsets[0].ports, [{ name: 'https', port: server.port, protocol: 'TCP' }])
  assert.equal(listed.metadata.labels['endpointslice.kubernetes.io/skip-mirror'], 'true')
  const { body: slice } = await client.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')
  assert.equal(slice.metadata.labels['kubernetes.io/service-name'], 'kubernetes')
  assert.deepEqual([slice.addressType, slice.ports], ['IPv4', [{ name: 'https', port: server.port, protocol: 'TCP' }]])
  assert.deepEqual(slice.endpoints, [{ addresses: ['192.0.2.7'], conditions: { ready: true } }])
})

test('a loopback address is not listed as an endpoint, and the certificate is valid for the Service', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const { body } = await client.get(`${services}/orch`)
  assert.equal(body.spec.clusterIP, '10.0.0.1')
  await untilListed(client, [])
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(opened))
    opened.on('error', reject)
  })
  const { subjectaltname = '' } = socket.getPeerCertificate() as PeerCertificate
  socket.destroy()
  for (const name of ['DNS:orch', 'DNS:orch.default', 'DNS:orch.default.svc', 'IP Address:10.0.0.1'])
    assert.ok(subjectaltname.split(', ').includes(name), `${name} in ${subjectaltname}`)
})

describe('endpoints list all servers on one etcd', () => {
  const owner = endOfFile()
  let cluster: Cluster
  let observer: Restartable
  let stopped: Restartable
  let killed: ServerHandle
  let places: string[]

  before(async () => {
    cluster = await startEtcd()
    owner.after(() => cluster.stop())
    const flags = (i: number) => [`--etcd-servers=${cluster.endpoints}`, `--advertise-address=192.0.2.${i}`]
    observer = await serve(owner, flags(1))
    stopped = await serve(owner, flags(2))
    killed = await startServer(owner, flags(3))
    places = [observer, stopped, killed].map(({ port }, i) => `192.0.2.${i + 1}:${port}`)
  })

  it('all servers are listed as endpoints; a stopped server disappears immediately, a killed server within seconds', async () => {
    const client = observer.client()
    await untilListed(client, places)
    await stopped.stop()
    await untilListed(client, [places[0]!, places[2]!], 3_000)
    await stopped.restart()
    await untilListed(client, places)
    await killed.kill()
    // The server's key expires 15 to 20 seconds after the last write, and the other servers check every five seconds.
    await untilListed(client, places.slice(0, 2), 40_000)
    // Each server writes the EndpointSlices after the Endpoints, so the EndpointSlices may be updated a moment later.
    const sliced = await until(
      () => slicedPlaces(client),
      ({ length }) => length === 2,
    )
    assert.deepEqual(sliced, places.slice(0, 2).sort())
    const { body } = await client.get(services)
    assert.deepEqual(
      body.items.map(({ metadata }: ApiObject) => metadata.name),
      ['orch'],
    )
  })
})
