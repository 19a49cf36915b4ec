/** Tests `--emulated-version` and the feature gates of the emulated version. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type EmulatedVersion, emulatedVersions } from '../../src/api/versions/emulated-version.ts'
import { gateState, isFeatureGate } from '../../src/api/versions/feature-gates.ts'
import { readEmulatedVersion } from '../../src/server/flags/emulated-version.ts'
import { emulationFrom } from '../../src/server/flags/emulation.ts'
import { readPairs } from '../../src/server/flags/pairs.ts'
import { emulatedVersionOf, settleEmulatedVersion } from '../../src/server/store/emulated-version.ts'
import { claimProfile } from '../../src/server/store/profile.ts'
import { MemoryStore } from '../../src/storage/store/memory.ts'
import { startTestServer, type TestServer } from '../../src/testing/testing.ts'
import { skewWarning } from '../../src/tools/cli/commands/version.ts'
import { serve } from '../support/in-process.ts'
import { startFailing } from '../support/start-failing.ts'

test('--emulated-version accepts a version with or without a component name', () => {
  assert.equal(readEmulatedVersion('1.29'), '1.29')
  assert.equal(readEmulatedVersion('kube=1.36'), '1.36')
})

for (const text of ['1.22', '1.37', 'v1.29', '1.29.3', '1.29,1.30', 'kube=1.29,kube=1.30', 'foo=1.29', '', 'kube='])
  test(`the emulated version ${JSON.stringify(text)} is rejected, and the error names the supported range`, () => {
    assert.throws(() => readEmulatedVersion(text), /from 1\.23 to 1\.36/)
  })

test('an emulated version that is not supported prevents startup', async () => {
  const { code, errors } = await startFailing({ after }, ['--emulated-version=1.22'])
  assert.equal(code, 1)
  assert.match(errors, /--emulated-version.*cannot emulate "1\.22".*from 1\.23 to 1\.36/)
})

for (const [profile, version] of [
  ['orch', '1.23'],
  ['kubernetes', '1.36'],
] as const)
  test(`a new store under the profile ${profile} gets Kubernetes ${version}, and a store without a version gets 1.23`, async () => {
    const flags = { profile, emulatedVersion: undefined, allowVersionDowngrade: false }
    const store = new MemoryStore()
    assert.equal(await settleEmulatedVersion(store, flags), version)
    assert.equal(await emulatedVersionOf(store), version)
    assert.equal(await settleEmulatedVersion(store, flags), version, 'after a restart')
    const old = new MemoryStore()
    await claimProfile(old, profile)
    assert.equal(await settleEmulatedVersion(old, flags), '1.23')
    for (const each of [store, old]) await each.close()
  })

test('a test server emulates Kubernetes 1.36 under the profile kubernetes unless its options set another version', async () => {
  await using server = await startTestServer({ controlLoops: false })
  assert.equal(await minorOf(server), '36')
})

test('servers that emulate different versions can share a process', async () => {
  const [older, newer] = await Promise.all([
    serve({ after }, []),
    serve({ after }, ['--emulated-version=1.31', '--profile=kubernetes']),
  ])
  const versionOf = async (server: typeof older) => (await server.client('admin-token').get('/version')).body
  const [a, b] = [await versionOf(older), await versionOf(newer)]
  assert.deepEqual([a.minor, b.minor], ['23', '31'])
  assert.match(b.gitVersion, /^v1\.31\.14\+orch\./)
})

test('since Kubernetes 1.33, /version reports the emulated version and the oldest compatible version', async () => {
  const documentAt = async (version: string) =>
    (await serve({ after }, [`--emulated-version=${version}`])).client('admin-token').get('/version')
  assert.equal((await documentAt('1.32')).body.emulationMinor, undefined)
  const { emulationMajor, emulationMinor, minCompatibilityMinor } = (await documentAt('1.33')).body
  assert.deepEqual([emulationMajor, emulationMinor, minCompatibilityMinor], ['1', '33', '32'])
})

test('orchctl version warns about a server that is too old or too new', () => {
  for (const minor of ['22', '23', '29+', '37']) assert.equal(skewWarning({ major: '1', minor }), undefined)
  for (const [major, minor] of [
    ['1', '21'],
    ['1', '38+'],
    ['2', '30'],
  ] as const)
    assert.match(
      skewWarning({ major, minor })!,
      new RegExp(`server \\(${major}\\.${minor.replace('+', '\\+')}\\) exceeds`),
    )
})

test('a test server emulates the Kubernetes version set in its options', async () => {
  await using server = await startTestServer({ emulatedVersion: '1.29', controlLoops: false })
  assert.equal(await minorOf(server), '29')
})

async function minorOf({ transport }: TestServer): Promise<string> {
  const { signal } = new AbortController()
  const { body } = await transport({ method: 'GET', path: '/version', headers: {}, body: undefined, signal })
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString()).minor
}

function gatesOf(version: EmulatedVersion, pairs: string): ReadonlySet<string> {
  return emulationFrom({ emulatedVersion: version, featureGates: readPairs(pairs) }).gates
}

test('each Kubernetes version has its own feature gate defaults', () => {
  assert.ok(!gatesOf('1.23', '').has('IdentifyPodOS'))
  assert.ok(gatesOf('1.24', '').has('IdentifyPodOS'))
  assert.ok(gatesOf('1.36', '').has('IdentifyPodOS'), 'the feature stays enabled after its gate was removed')
  assert.ok(!gatesOf('1.36', '').has('DynamicKubeletConfig'))
  assert.ok(gatesOf('1.23', '').has('CustomResourceValidationExpressions'))
})

test('an individual feature gate takes precedence over AllBeta', () => {
  assert.ok(!gatesOf('1.23', 'AllBeta=false').has('APIListChunking'))
  assert.ok(gatesOf('1.23', 'APIListChunking=true,AllBeta=false').has('APIListChunking'))
  assert.ok(gatesOf('1.30', 'AllBeta=false').has('APIListChunking'), 'a stable gate does not belong to the stage')
})

test('all feature gates that kind definitions check can be changed', () => {
  assert.ok(!gatesOf('1.27', 'HPAContainerMetrics=false').has('HPAContainerMetrics'))
  assert.ok(gatesOf('1.23', 'TopologyAwareHints=true').has('TopologyAwareHints'))
  assert.ok(gatesOf('1.23', 'AnyVolumeDataSource=true').has('AnyVolumeDataSource'))
  assert.ok(gatesOf('1.26', 'HPAContainerMetrics=true').has('HPAContainerMetrics'), 'alpha')
})

test('every feature gate that the code checks can be changed', () => {
  const source = join(import.meta.dirname, '../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const asked = files.flatMap((name) =>
    [...readFileSync(join(source, name), 'utf8').matchAll(/(?:isEnabled|gates\.has)\('(\w+)'/g)].map(
      ([, gate = '']) => gate,
    ),
  )
  for (const gate of asked.filter(isFeatureGate)) {
    const version = emulatedVersions.find((each) => {
      const state = gateState(gate, each)
      return state !== undefined && !state.locked
    })
    if (version === undefined) continue
    for (const on of [true, false]) assert.equal(gatesOf(version, `${gate}=${on}`).has(gate), on, gate)
  }
})

for (const [version, pairs, message] of [
  ['1.23', 'NoSuchGate=true', /unrecognized feature gate: NoSuchGate/],
  ['1.29', 'ApiListChunking=true', /unrecognized feature gate: ApiListChunking.*did you mean APIListChunking\?/],
  ['1.33', 'APIListChunking=true', /unrecognized feature gate: APIListChunking/],
  ['1.29', 'APIListChunking=false', /cannot set feature gate APIListChunking to false, feature is locked to true/],
  ['1.28', 'AllAlpha=true', /not all alpha features are implemented/],
  ['1.28', 'CustomCPUCFSQuotaPeriod=true', /implements only CustomCPUCFSQuotaPeriod=false/],
  ['1.28', 'KubeletTracing=false', /implements only KubeletTracing=true/],
] as const)
  test(`--feature-gates=${pairs} is rejected at Kubernetes ${version}`, () => {
    assert.throws(() => gatesOf(version, pairs), message)
  })

test('a feature gate without effect is accepted only with the value that the server implements', () => {
  assert.ok(gatesOf('1.28', 'KubeletTracing=true').has('KubeletTracing'))
  assert.ok(!gatesOf('1.28', 'InPlacePodVerticalScaling=false,AllAlpha=false').has('InPlacePodVerticalScaling'))
})

const services = '/api/v1/namespaces/default/services'

function serviceWith(spec: object) {
  return { metadata: { generateName: 's-' }, spec: { ports: [{ port: 80 }], ...spec } }
}

test('a field from a later Kubernetes version is unknown, and the error names the version', async () => {
  const client = (await serve({ after }, ['--emulated-version=1.29'])).client('admin-token')
  const sent = serviceWith({ trafficDistribution: 'PreferClose' })
  const strict = await client.post(`${services}?fieldValidation=Strict`, sent)
  assert.equal(strict.status, 400)
  assert.match(
    strict.body.message,
    /unknown field "spec\.trafficDistribution" \(exists since 1\.30; this server emulates 1\.29\)/,
  )
  const ignored = await client.post(`${services}?fieldValidation=Ignore`, sent)
  assert.deepEqual([ignored.status, ignored.body.spec.trafficDistribution], [201, undefined])
})

test('a field is dropped while its feature gate is disabled, and kept once the gate is enabled', async () => {
  const specAt = async (...flags: string[]) => {
    const client = (await serve({ after }, flags)).client('admin-token')
    return (await client.post(services, serviceWith({ trafficDistribution: 'PreferClose' }))).body.spec
  }
  assert.equal((await specAt('--emulated-version=1.30')).trafficDistribution, undefined)
  assert.equal((await specAt('--emulated-version=1.31')).trafficDistribution, 'PreferClose')
  const disabled = await specAt('--emulated-version=1.31', '--feature-gates=ServiceTrafficDistribution=false')
  assert.equal(disabled.trafficDistribution, undefined)
})

test('requests for removed API versions get a 404, and objects can be converted to API versions that were added', async () => {
  const [older, newer] = await Promise.all(
    ['1.23', '1.36'].map(async (version) =>
      (await serve({ after }, [`--emulated-version=${version}`])).client('admin-token'),
    ),
  )
  const levels = (version: string) => `/apis/flowcontrol.apiserver.orch.io/${version}/prioritylevelconfigurations`
  const statuses = async (client: NonNullable<typeof older>) => [
    (await client.get('/apis/policy/v1beta1/podsecuritypolicies')).status,
    (await client.get(levels('v1beta2'))).status,
    (await client.get(levels('v1'))).status,
  ]
  assert.deepEqual(await statuses(older!), [200, 200, 404])
  assert.deepEqual(await statuses(newer!), [404, 404, 200])
  const limited = { limitResponse: { type: 'Reject' }, nominalConcurrencyShares: 7 }
  const level = { metadata: { name: 'seven' }, spec: { type: 'Limited', limited } }
  assert.equal((await newer!.post(levels('v1'), level)).body.spec.limited.nominalConcurrencyShares, 7)
})
