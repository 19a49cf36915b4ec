/** Tests a metrics API behind the server, as read by `kubectl top` and `orchctl top` in the kubernetes profile. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { serve } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'
import { until } from '../../support/until.ts'

const server = await serve({ after }, ['--profile=kubernetes'])
const client = server.client()
const backend = await AggregatedServer.start({ after }, { group: 'metrics.k8s.io', version: 'v1beta1' })

async function run(line: string) {
  return await orchctl(line.split(' '), { env: { KUBECONFIG: configOf(server) } })
}

test('kubectl top reads node and pod metrics through the aggregated API', async () => {
  await giveService(client)
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  assert.equal((await client.post(services, backend.apiService())).status, 201)
  await until(
    async () => (await client.get(`${services}/v1beta1.metrics.k8s.io`)).body.status.conditions?.[0]?.reason,
    (reason) => reason === 'Passed',
  )
  const allocatable = { cpu: '1', memory: '1Gi' }
  const capacity = { cpu: '2', memory: '2Gi' }
  await client.post('/api/v1/nodes', { metadata: { name: 'n1' }, status: { capacity, allocatable } })
  const nodes = await kubectl(server, ['top', 'nodes'])
  assert.match(nodes.stdout, /^n1 +250m +25% +128Mi +12%/m, nodes.stderr)
  const pods = await kubectl(server, ['top', 'pods', '-n', 'default'])
  assert.match(pods.stdout, /^p1 +250m +128Mi/m, pods.stderr)
  for (const line of ['top nodes', 'top node n1', 'top pods', 'top pods -A --containers', 'top pod p1 --no-headers']) {
    const [ours, theirs] = await Promise.all([run(line), kubectl(server, line.split(' '))])
    // kubectl pads its lines with trailing spaces.
    const stdout = theirs.stdout.replaceAll(/ +$/gm, '')
    assert.deepEqual([ours.stdout, ours.stderr, ours.code], [stdout, theirs.stderr, theirs.code], line)
  }
  // The kubectl version used in the tests does not have these options yet, and prints `<unknown>` in more columns.
  await client.post('/api/v1/nodes', { metadata: { name: 'n2' } })
  assert.match(
    (await run('top nodes --show-capacity')).stdout,
    /^n1 +250m +12% +128Mi +6% *\nn2 +<unknown> +<unknown>/m,
  )
  assert.match(
    (await run('top pods -A --sum --field-selector=metadata.name=p1')).stdout,
    /^default +p1 +250m +128Mi *\n +_{8} +_{8} *\n +250m +128Mi *\n$/m,
  )
  const shown = await kubectl(server, ['get', 'apiservice', 'v1beta1.metrics.k8s.io'])
  assert.match(shown.stdout, /^v1beta1\.metrics\.k8s\.io +apis\/backend +True/m, shown.stderr)
})
