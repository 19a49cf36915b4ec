/** A metrics API behind the server, as `kubectl top` reads it under the kubernetes profile. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../tools/aggregated.ts'
import { serve } from '../tools/in-process.ts'
import { kubectl } from '../tools/kubectl.ts'
import { until } from '../tools/until.ts'

const server = await serve({ after }, ['--profile=kubernetes'])
const client = server.client()
const backend = await AggregatedServer.start({ after }, { group: 'metrics.k8s.io', version: 'v1beta1' })

test('kubectl top reads nodes and pods through the server, and get shows the APIService', async () => {
  await giveService(client)
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  assert.equal((await client.post(services, backend.apiService())).status, 201)
  await until(
    async () => (await client.get(`${services}/v1beta1.metrics.k8s.io`)).body.status.conditions?.[0]?.reason,
    (reason) => reason === 'Passed',
  )
  const allocatable = { cpu: '1', memory: '1Gi' }
  await client.post('/api/v1/nodes', { metadata: { name: 'n1' }, status: { capacity: allocatable, allocatable } })
  const nodes = await kubectl(server, ['top', 'nodes'])
  assert.match(nodes.stdout, /^n1 +250m +25% +128Mi +12%/m, nodes.stderr)
  const pods = await kubectl(server, ['top', 'pods', '-n', 'default'])
  assert.match(pods.stdout, /^p1 +250m +128Mi/m, pods.stderr)
  const shown = await kubectl(server, ['get', 'apiservice', 'v1beta1.metrics.k8s.io'])
  assert.match(shown.stdout, /^v1beta1\.metrics\.k8s\.io +apis\/backend +True/m, shown.stderr)
})
