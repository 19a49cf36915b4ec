/** Tests mutating and validating webhook configurations: defaults of both versions, validation and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import {
  mutatingWebhookConfiguration as mutating,
  mutatingWebhookConfigurationV1beta1,
} from '../../../src/api/kinds/admissionregistration/mutating-webhook-configuration.ts'
import {
  validatingWebhookConfiguration as validating,
  validatingWebhookConfigurationV1beta1,
} from '../../../src/api/kinds/admissionregistration/validating-webhook-configuration.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const url = 'https://127.0.0.1:1/x'
const least = { name: 'w.example.com', clientConfig: { url }, sideEffects: 'None', admissionReviewVersions: ['v1'] }

const always = { namespaceSelector: {}, objectSelector: {} }

test('v1 and v1beta1 webhook configurations have different defaults', () => {
  const newer = { ...least, ...always, failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 }
  assert.deepEqual(webhooksOf(createBy(validating, configuration({ ...least, rules: [rule] })).object), [
    { ...newer, rules: [{ ...rule, scope: '*' }] },
  ])
  assert.deepEqual(webhooksOf(createBy(mutating, configuration(least)).object), [
    { ...newer, reinvocationPolicy: 'Never' },
  ])
  const older = { ...always, failurePolicy: 'Ignore', matchPolicy: 'Exact', timeoutSeconds: 30 }
  const said = { sideEffects: 'Unknown', admissionReviewVersions: ['v1beta1'] }
  const sent = configuration({ name: 'a.b.c', clientConfig: { service: { name: 's', namespace: 'n' } } })
  const clientConfig = { service: { name: 's', namespace: 'n', port: 443 } }
  for (const kind of [validatingWebhookConfigurationV1beta1, mutatingWebhookConfigurationV1beta1]) {
    const [filled] = webhooksOf(createBy(kind, sent).object)
    const { reinvocationPolicy: _, ...rest } = filled!
    assert.deepEqual(rest, { name: 'a.b.c', clientConfig, ...older, ...said })
  }
})

/** Changes to a valid webhook, with the expected errors. Paths are relative to the webhook. */
const cases: readonly (readonly [change: JsonObject, faults: readonly string[]])[] = [
  [{}, []],
  [{ name: '' }, ['Required name']],
  [{ name: 'a.b' }, ['Invalid name']],
  [{ name: 'A.b.c' }, ['Invalid name']],
  [{ failurePolicy: 'fail' }, ['NotSupported failurePolicy']],
  [{ matchPolicy: '' }, ['NotSupported matchPolicy']],
  [{ sideEffects: null }, ['Required sideEffects']],
  [{ sideEffects: 'Unknown' }, ['NotSupported sideEffects']],
  [{ sideEffects: 'X' }, ['NotSupported sideEffects']],
  [{ timeoutSeconds: 30 }, []],
  [{ timeoutSeconds: 0 }, ['Invalid timeoutSeconds']],
  [{ timeoutSeconds: 31 }, ['Invalid timeoutSeconds']],
  [{ admissionReviewVersions: [] }, ['Required admissionReviewVersions']],
  [{ admissionReviewVersions: ['v2', 'v1beta1'] }, []],
  [{ admissionReviewVersions: ['v2'] }, ['Invalid admissionReviewVersions']],
  [{ admissionReviewVersions: ['v1', 'v1'] }, ['Invalid admissionReviewVersions[1]']],
  [{ admissionReviewVersions: ['v1', 'V_2'] }, ['Invalid admissionReviewVersions[1]']],
  [{ objectSelector: { matchLabels: { 'a b': 'c' } } }, ['Invalid objectSelector.matchLabels']],
]

test('configurations with invalid admission webhooks are rejected', () => {
  for (const kind of [validating, mutating])
    for (const [change, faults] of cases) {
      const reportedFaults = createBy(kind, configuration({ ...least, ...change })).faults
      assert.deepEqual(
        reportedFaults,
        faults.map((fault) => fault.replace(' ', ' webhooks[0].')),
        JSON.stringify(change),
      )
    }
  assert.deepEqual(createBy(mutating, configuration(least, least)).faults, ['Duplicate webhooks[1].name'])
  const reinvocationPolicy = createBy(mutating, configuration({ ...least, reinvocationPolicy: '' })).faults
  assert.deepEqual(reinvocationPolicy, ['NotSupported webhooks[0].reinvocationPolicy'])
})

const service = (more: JsonObject) => ({ service: { name: 's', namespace: 'n', ...more } })

const clients: readonly (readonly [clientConfig: JsonObject, faults: readonly string[]])[] = [
  [{}, ['Required ']],
  [{ url, ...service({}) }, ['Required ']],
  ...['http://a', 'https://', 'https:///p', 'https://u:p@h/', 'https://h/#f', 'https://h?q=1', '', 'h/p', '//h'].map(
    (bad) => [{ url: bad }, ['Invalid .url']] as const,
  ),
  ...['https://a b/', 'https://h/%zz', 'https://h/\n', ':x', 'https://[::1'].map(
    (bad) => [{ url: bad }, ['Required .url']] as const,
  ),
  ...['https://h', 'HTTPS://h:443/a b', 'https://[::1]:8443/', 'https://h/#', 'https://h?'].map(
    (good) => [{ url: good }, []] as const,
  ),
  [service({ port: 0 }), ['Invalid .service.port']],
  [service({ port: 65536 }), ['Invalid .service.port']],
  [{ service: {} }, ['Required .service.name', 'Required .service.namespace']],
  ...['', '/', '/a', '/a/b.c/'].map((path) => [service({ path }), []] as const),
  ...['x', '//', '/a//b', '/A', `/${'/'.repeat(100_000)}`].map(
    (path) => [service({ path }), ['Invalid .service.path']] as const,
  ),
  [{ ...service({}), caBundle: 'YWJj' }, []],
]

test('an admission webhook requires either a valid URL or a valid Service reference', () => {
  for (const [clientConfig, faults] of clients) {
    const reportedFaults = createBy(validating, configuration({ ...least, clientConfig })).faults
    const expected = faults.map((fault) => fault.replace(' ', ' webhooks[0].clientConfig'))
    assert.deepEqual(reportedFaults, expected, JSON.stringify(clientConfig).slice(0, 200))
  }
})

const rules: readonly (readonly [change: JsonObject, faults: readonly string[]])[] = [
  [{ operations: [] }, ['Required operations']],
  [{ operations: ['FLY'] }, ['NotSupported operations[0]']],
  [{ operations: ['*', 'CREATE'] }, ['Invalid operations']],
  [{ apiGroups: [] }, ['Required apiGroups']],
  [{ apiGroups: ['*', 'a'] }, ['Invalid apiGroups']],
  [{ apiVersions: [] }, ['Required apiVersions']],
  [{ apiVersions: ['*', 'v1'] }, ['Invalid apiVersions']],
  [{ apiVersions: [''] }, ['Required apiVersions[0]']],
  [{ resources: [] }, ['Required resources']],
  [{ resources: [''] }, ['Required resources[0]']],
  [{ resources: ['*', 'a'] }, ['Invalid resources']],
  [{ resources: ['*', 'a/b'] }, []],
  [{ resources: ['*/*', 'a'] }, ['Invalid resources']],
  [{ resources: ['a/*', 'a/b'] }, ['Invalid resources[1]']],
  [{ resources: ['*/s', 'a/s'] }, ['Invalid resources[1]']],
  [{ resources: ['a/b', 'a/c', 'd'] }, []],
  [{ scope: '' }, ['NotSupported scope']],
]

test('empty, invalid and redundant values in admission webhook rules are rejected', () => {
  for (const [change, faults] of rules) {
    const reportedFaults = createBy(validating, configuration({ ...least, rules: [{ ...rule, ...change }] })).faults
    assert.deepEqual(
      reportedFaults,
      faults.map((fault) => fault.replace(' ', ' webhooks[0].rules[0].')),
      JSON.stringify(change),
    )
  }
})

test('an update of a webhook configuration may keep invalid values of the stored object', () => {
  const loose = { ...least, sideEffects: 'Some', admissionReviewVersions: ['v9'] }
  const previous = { ...createBy(mutating, configuration(least)).object, webhooks: [loose, loose] }
  const faultsOf = (...next: JsonObject[]) => updateBy(mutating, previous, configuration(...next)).faults
  assert.deepEqual(faultsOf(loose, loose, { ...loose, timeoutSeconds: 1 }), [])
  assert.deepEqual(faultsOf({ ...loose, sideEffects: 'X' }), ['NotSupported webhooks[0].sideEffects'])
  const sound = createBy(mutating, configuration(least)).object
  assert.deepEqual(updateBy(mutating, sound, configuration(loose, loose)).faults, [
    'Duplicate webhooks[1].name',
    'Invalid webhooks[0].admissionReviewVersions',
    'Invalid webhooks[1].admissionReviewVersions',
    'NotSupported webhooks[0].sideEffects',
    'NotSupported webhooks[1].sideEffects',
  ])
})

test('changing the webhooks of a configuration increments the generation, and the table shows the number of webhooks', () => {
  const { object } = createBy(validating, configuration())
  const changed = updateBy(validating, object, configuration(least)).object
  assert.deepEqual([object.metadata.generation, changed.metadata.generation], [1, 2])
  assert.equal(updateBy(validating, object, configuration()).object.metadata.generation, 1)
  for (const kind of [validating, mutating])
    assert.equal(updateBy(kind, object, { ...configuration(), webhooks: [] }).object.metadata.generation, 2)
  assert.deepEqual(
    [object, changed].map((each) => cellsOf(validating, each)[1]),
    [0, 1],
  )
})

test('a v1beta1 webhook configuration is validated less strictly, causes a warning and is stored as v1', async (t) => {
  const client = (await serve(t)).client()
  const home = (version: string) => `/apis/admissionregistration.orch.io/${version}/validatingwebhookconfigurations`
  const sent = configuration({ name: 'a.b.c', clientConfig: { url } }, { name: 'a.b.c', clientConfig: { url } })
  const created = await client.post(home('v1beta1'), sent)
  assert.equal(created.status, 201)
  assert.match(
    String(created.headers.warning),
    /deprecated in v1\.16\+.*use admissionregistration\.orch\.io\/v1 Validating/,
  )
  const { body } = await client.get(`${home('v1')}/c`)
  assert.deepEqual([body.apiVersion, body.webhooks[1].sideEffects], ['admissionregistration.orch.io/v1', 'Unknown'])
  assert.equal((await client.put(`${home('v1')}/c`, body)).status, 200)
  const refused = await client.post(home('v1'), { ...sent, metadata: { name: 'd' } })
  assert.deepEqual([refused.status, refused.body.details.causes.length], [422, 5])
})

function configuration(...webhooks: JsonObject[]): JsonObject {
  return { metadata: { name: 'c' }, ...(webhooks.length === 0 ? {} : { webhooks }) }
}

function webhooksOf(object: Parameters<typeof asJson>[0]): JsonObject[] {
  return asJson(object).webhooks as JsonObject[]
}
