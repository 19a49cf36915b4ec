/** Tests the types and features that --runtime-config and --feature-gates select, and the log level. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { openLog } from '../../src/base/telemetry/log.ts'
import { readPairs } from '../../src/server/flags/pairs.ts'
import { servedBy } from '../../src/server/flags/runtime-config.ts'
import { serve } from '../support/in-process.ts'
import { startFailing } from '../support/start-failing.ts'

const vendor = vendorOf('orch')
const allKinds = kindsOfVersion('1.23')

/** Returns the types that are not served, as `group/version/plural`. */
function leftOut(config: string): string[] {
  const isServed = servedBy(readPairs(config), { kinds: allKinds, vendor, version: '1.23' })
  return allKinds.filter((kind) => !isServed(kind)).map(({ group, version, plural }) => `${group}/${version}/${plural}`)
}

test('a more specific --runtime-config entry takes precedence, regardless of the order', () => {
  assert.deepEqual(leftOut(''), [])
  assert.deepEqual(leftOut('events.orch.io/v1beta1=false'), ['events/v1beta1/events'])
  const betas = allKinds.filter(({ version }) => version.includes('beta')).length
  assert.equal(leftOut('api/beta=false').length, betas)
  assert.equal(leftOut('events.orch.io/v1beta1,api/beta=false').length, betas - 1)
  assert.deepEqual(leftOut('v1/podtemplates=false'), ['core/v1/podtemplates'])
  assert.deepEqual(leftOut('api/v1/podtemplates=false'), ['core/v1/podtemplates'])
  assert.equal(leftOut('api/all=false').length, allKinds.length)
  assert.ok(!leftOut('api/all=false,v1=true').some((type) => type.startsWith('core/')))
  assert.deepEqual(leftOut('v1=false,v1/secrets=true,api/ga').includes('core/v1/secrets'), false)
})

test('--runtime-config accepts alpha versions of known groups, but the server does not serve them', () => {
  assert.deepEqual(leftOut('scheduling.orch.io/v1alpha2=true'), [])
  assert.throws(() => leftOut('scheduling.orch.io/v1alpha2x=true'), /unknown API/)
  assert.throws(() => leftOut('nowhere.orch.io/v1alpha1=true'), /unknown API/)
})

test('a disabled API version is neither served nor listed in discovery, and its objects are kept', async () => {
  const server = await serve({ after }, ['--runtime-config=autoscaling/v2=false,v1/secrets=false,v1/namespaces=false'])
  const client = server.client('admin-token')
  const scalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
  assert.equal((await client.get(scalers('v2'))).status, 404)
  assert.equal((await client.get('/api/v1/secrets')).status, 404)
  const sent = { metadata: { name: 'h' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'X', name: 'y' } } }
  assert.equal((await client.post(scalers('v1'), sent)).status, 201)
  const { body } = await client.get('/apis/autoscaling')
  assert.deepEqual(
    body.versions.map(({ version }: { version: string }) => version),
    ['v1', 'v2beta1', 'v2beta2'],
  )
  await server.stop()
  await server.restart(['--runtime-config='])
  assert.equal((await client.get(`${scalers('v2')}/h`)).body.spec.maxReplicas, 2)
})

test('an enabled API version without resources appears in discovery', async () => {
  const server = await serve({ after }, ['--runtime-config=imagepolicy.orch.io/v1alpha1'])
  const client = server.client('admin-token')
  const group = '/apis/imagepolicy.orch.io'
  const { status, body } = await client.get(`${group}/v1alpha1`)
  assert.deepEqual(
    [status, body.kind, body.groupVersion, body.resources],
    [200, 'APIResourceList', 'imagepolicy.orch.io/v1alpha1', []],
  )
  assert.equal((await client.get(group)).body.preferredVersion.version, 'v1alpha1')
  const { groups } = (await client.get('/apis')).body
  assert.equal(groups.at(-1).name, 'imagepolicy.orch.io')
  assert.equal((await client.get(`${group}/v1alpha1/imagereviews`)).status, 404)
  await server.stop()
  await server.restart(['--runtime-config='])
  assert.deepEqual([(await client.get(`${group}/v1alpha1`)).status, (await client.get(group)).status], [404, 404])
})

test('without the feature APIListChunking, the server ignores the limit parameter', async () => {
  const server = await serve({ after }, ['--feature-gates=APIListChunking=false'])
  const { body } = await server.client('admin-token').get('/api/v1/namespaces?limit=1')
  assert.equal(body.items.length, 4)
  assert.equal(body.metadata.continue, undefined)
})

for (const [flag, expected] of [
  ['--runtime-config=event.orch.io/v1=false', /did you mean events\.orch\.io\/v1\?/],
  ['--runtime-config=autoscaling/v9=true', /unknown API "autoscaling\/v9"/],
  ['--runtime-config=v1/pods=maybe', /"maybe" is neither true nor false/],
  ['--runtime-config==true', /use NAME=true or NAME=false/],
  ['--feature-gates=ApiListChunking=true', /did you mean APIListChunking\?/],
  ['--feature-gates=APIListChunking=yes', /"yes" is neither true nor false/],
  ['--logging-format=xml', /"xml" is not one of text, json/],
  ['-v=loud', /"loud" is not a valid log level/],
] as const)
  test(`the server does not start with ${flag}`, async () => {
    const { code, errors } = await startFailing({ after }, [flag])
    assert.equal(code, 1)
    assert.match(errors, expected)
  })

test('at log level 3, every request is logged in one line without its query', async () => {
  const server = await serve({ after }, ['-v=3'])
  await server.client('admin-token').get('/api/v1/namespaces/default?canary=secret')
  await server.stop()
  assert.match(server.output(), /info request method="GET" path="\/api\/v1\/namespaces\/default" user="admin" code=200/)
  assert.doesNotMatch(server.output(), /canary|admin-token/)
})

test('a JSON log has one object per line, regardless of the content of the message', () => {
  const lines: string[] = []
  const log = openLog({ level: 1, format: 'json', write: (line) => lines.push(line), now: () => 0 })
  log.info('a "quoted"\nmessage', { key: 'value\n', count: 1 })
  log.verbose(1, 'told')
  log.verbose(2, 'not told')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { ts: '1970-01-01T00:00:00.000Z', level: 'info', msg: 'a "quoted"\nmessage', key: 'value\n', count: 1 },
      { ts: '1970-01-01T00:00:00.000Z', level: 'info', msg: 'told' },
    ],
  )
  assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1))
})
