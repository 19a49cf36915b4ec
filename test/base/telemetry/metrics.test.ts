/** Tests the values of metrics, and that client input never becomes a label. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Counter, Histogram } from '../../../src/base/telemetry/metrics.ts'
import { startServer } from '../../support/server.ts'

test('a histogram counts each value in every bucket whose range includes the value', () => {
  const histogram = new Histogram({ name: 'h', help: '', labels: ['a'] }, [1, 2])
  for (const value of [0.5, 1, 1.5, 7]) histogram.at('x').observe(value)
  const sampleRows = [...histogram.samples()].map(({ metricName, labels, value }) => [
    metricName,
    labels.le ?? '',
    value,
  ])
  assert.deepEqual(sampleRows, [
    ['h_bucket', 1, 2],
    ['h_bucket', 2, 3],
    ['h_bucket', '+Inf', 4],
    ['h_sum', '', 10],
    ['h_count', '', 4],
  ])
})

test('a histogram series without observations is not reported', () => {
  const histogram = new Histogram({ name: 'h', help: '', labels: ['a'] }, [1])
  const quiet = histogram.at('quiet')
  const busy = histogram.at('busy')
  busy.observe(0)
  const sampledLabels = () => new Set([...histogram.samples()].map(({ labels }) => labels.a))
  assert.deepEqual(sampledLabels(), new Set(['busy']))
  quiet.observe(7)
  assert.deepEqual(sampledLabels(), new Set(['quiet', 'busy']))
  const single = new Histogram({ name: 'h', help: '', labels: [] }, [1])
  single.at()
  assert.equal([...single.samples()].length, 4)
})

test('the number of series per metric is limited, and all further series are combined', () => {
  const counter = new Counter({ name: 'c', help: '', labels: ['a'] })
  for (let i = 0; i < 20_000; i++) counter.at(`value ${i}`).value++
  const samples = [...counter.samples()]
  assert.ok(samples.length <= 5001)
  assert.equal(
    samples.reduce((sum, { value }) => sum + value, 0),
    20_000,
  )
  assert.ok(samples.some(({ labels }) => labels.a === 'other'))
})

test('requests are counted by resource type, and unknown names do not become labels', async () => {
  const server = await startServer({ after })
  const client = server.client('admin-token')
  const scrape = async () => (await client.get('/metrics')).text
  await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
  await client.get('/api/v1/namespaces/default/configmaps/a')
  await client.get('/api/v1/namespaces/default/configmaps/missing')
  for (let i = 0; i < 2; i++) await client.get('/api/v1/namespaces/default/configmaps')
  await client.get('/api/v1/configmaps')
  const text = await scrape()
  const count = (name: string, labels: string) =>
    Number(new RegExp(`^${name}\\{${labels}\\} (\\S+)$`, 'm').exec(text)?.[1])
  const place = (subresource: string, scope: string, verb: string) =>
    `resource="configmaps",scope="${scope}",subresource="${subresource}",verb="${verb}",version="v1"`
  const total = (code: string, where: string) =>
    count('apiserver_request_total', `code="${code}",dry_run="",group="",${where}`)
  const timed = (where: string) => count('apiserver_request_duration_seconds_count', `group="",${where}`)
  assert.equal(total('201', place('', 'namespace', 'POST')), 1)
  assert.equal(total('404', place('', 'resource', 'GET')), 1)
  assert.equal(timed(place('', 'resource', 'GET')), 2)
  assert.equal(timed(place('', 'namespace', 'LIST')), 2)
  assert.equal(timed(place('', 'cluster', 'LIST')), 1)
  // The server itself creates one of the two ConfigMaps, for aggregated API servers.
  assert.equal(count('apiserver_storage_objects', 'resource="configmaps"'), 2)
  assert.match(text, /^process_resident_memory_bytes \d+$/m)

  const inventLabels = async (round: string) => {
    for (let i = 0; i < 100; i++) {
      await client.get(`/apis/made.up/v${i}/things-${round}${i}`, { 'user-agent': `agent-${round}${i}` })
      await client.get(`/api/v1/namespaces/n${i}/configmaps/c${i}/part-${round}${i}`)
      await client.send(`/x${round}${i}`, { method: i % 2 === 0 ? 'PROPFIND' : 'PATCH' })
    }
    return await scrape()
  }
  const first = await inventLabels('a')
  const second = await inventLabels('b')
  assert.doesNotMatch(second, /made\.up|things-|part-|agent-|PROPFIND/)
  // A series for a type of garbage collection, or for a type of active resource, appears only after that type has
  // occurred for the first time.
  const names = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/^nodejs_(?:gc|active)_/.test(line))
      .map(nameIn)
  const before = new Set(names(first))
  assert.deepEqual(
    names(second).filter((name) => !before.has(name)),
    [],
  )
  assert.equal((await server.client('bob-token').get('/metrics')).status, 403)
})

/** Returns a line of the metrics text without the value at its end. */
function nameIn(line: string): string {
  return line.replace(/ \S+$/, '')
}
