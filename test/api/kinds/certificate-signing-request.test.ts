/**
 * Tests CertificateSigningRequest: validation, and the fields that each subresource can change. Table-driven tests
 * check the rules of the kind directly. Tests with a server check that the rules apply to updates, patches and
 * server-side apply.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { certificateSigningRequest as kind } from '../../../src/api/kinds/certificates/certificate-signing-request.ts'
import type { FieldError } from '../../../src/api/model/field-error.ts'
import { type ApiObject, asJson, asObject } from '../../../src/api/model/object.ts'
import type { User } from '../../../src/api/model/user.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { validate } from '../../../src/api/schema/validate.ts'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { oid, rdn, requestPem, utf8 } from '../pki/encode.ts'
import { makeAuthority, template } from '../pki/issue.ts'

const request = Buffer.from(requestPem()).toString('base64')
const good = { request, signerName: 'example.com/signer', usages: ['client auth'] }
const user: User = { name: 'jane', uid: '', groups: [], extra: new Map() }
const rules = { vendor: vendorOf('orch'), subresource: '', user, now: Date.UTC(2030, 0, 1) }
const newYear = '2030-01-01T00:00:00Z'

function requestObject(spec: Json, status: Json = {}): ApiObject {
  return asObject(
    decode(kind.schema, { apiVersion: 'v1', kind: kind.kind, metadata: { name: 'a' }, spec, status }).value,
  )
}

function errorTexts(errors: readonly FieldError[]): string[] {
  return errors.map(({ fault, path }) => `${path} ${fault.replace('FieldValue', '')}`)
}

function faultsOfNew(spec: JsonObject): string[] {
  const object = requestObject(spec)
  kind.rules.prepareForCreate?.(object, rules)
  return errorTexts([
    ...validate(kind.schema, asJson(object), rules),
    ...((kind.rules.validateCreate?.(object, rules) as FieldError[] | undefined) ?? []),
  ])
}

const requestFault = ['spec.request Invalid']
const signerFault = ['spec.signerName Invalid']
const specs: [string, JsonObject, string[]][] = [
  ['valid', good, []],
  ['empty', {}, ['spec.request Invalid', 'spec.usages Required', 'spec.signerName Required']],
  ['request not in PEM format', { ...good, request: 'aGVsbG8=' }, requestFault],
  ['null usages', { ...good, usages: null }, ['spec.usages Required']],
  ['empty list of usages', { ...good, usages: [] }, ['spec.usages Required']],
  ['capitalized usage', { ...good, usages: ['any', 'Any'] }, ['spec.usages[1] NotSupported']],
  ['repeated usage', { ...good, usages: ['any', 'signing', 'any'] }, ['spec.usages[2] Duplicate']],
  [
    'repeated unknown usage',
    { ...good, usages: ['x', 'x'] },
    ['spec.usages[0] NotSupported', 'spec.usages[1] NotSupported', 'spec.usages[1] Duplicate'],
  ],
  ['expiration of 599 seconds', { ...good, expirationSeconds: 599 }, ['spec.expirationSeconds Invalid']],
  ['expiration of 0 seconds', { ...good, expirationSeconds: 0 }, ['spec.expirationSeconds Invalid']],
  ['expiration of 600 seconds', { ...good, expirationSeconds: 600 }, []],
  ['signer in a vendor domain', { ...good, signerName: 'orch.io/anything' }, []],
  ['legacy signer', { ...good, signerName: 'orch.io/legacy-unknown' }, signerFault],
  ['signer without a path', { ...good, signerName: 'example.com' }, signerFault],
  ['signer with two slashes', { ...good, signerName: 'example.com/a/b' }, signerFault],
  ['signer domain with one label', { ...good, signerName: 'example/a' }, signerFault],
  ['signer without a domain', { ...good, signerName: '/a' }, [...signerFault, ...signerFault]],
  ['capitalized signer', { ...good, signerName: 'example.com/A' }, signerFault],
  ['wildcard signer', { ...good, signerName: 'example.com/*' }, signerFault],
  ['signer domain label with 64 characters', { ...good, signerName: `${'a'.repeat(64)}.com/a` }, signerFault],
  ['signer path with dots', { ...good, signerName: 'example.com/a.b.c' }, []],
  ['signer path with 253 characters', { ...good, signerName: `example.com/${'a'.repeat(253)}` }, []],
  ['signer name with 600 characters', { ...good, signerName: `a.b/${'a.'.repeat(298)}a` }, ['spec.signerName TooLong']],
]

for (const [name, spec, expected] of specs)
  test(`validation of a new CertificateSigningRequest: ${name}`, () => assert.deepEqual(faultsOfNew(spec), expected))

test('validating a million usages returns fewer than 100 errors', () => {
  const errors = faultsOfNew({ ...good, usages: Array.from({ length: 1_000_000 }, (_, i) => `${i}`) })
  assert.ok(errors.length > 0 && errors.length < 100)
})

test('the server overwrites the user fields of a CertificateSigningRequest with the requesting user', () => {
  const object = requestObject(
    { ...good, username: 'root', uid: 'x', groups: ['wheel'], extra: { a: ['b'] } },
    { certificate: 'eA==' },
  )
  const extra = new Map([['__proto__', ['1', '2']]])
  kind.rules.prepareForCreate?.(object, { ...rules, user: { name: 'jane', uid: 'u', groups: ['g', 'h'], extra } })
  const { username, uid, groups, extra: written } = object.spec as JsonObject
  assert.deepEqual(
    [username, uid, groups, JSON.stringify(written)],
    ['jane', 'u', ['g', 'h'], '{"__proto__":["1","2"]}'],
  )
  assert.deepEqual(object.status, {})
  const again = requestObject({ ...good, username: 'root', uid: 'x', groups: ['wheel'], extra: { a: ['b'] } })
  kind.rules.prepareForCreate?.(again, rules)
  assert.deepEqual(again.spec, { ...good, username: 'jane' })
})

const is = (type: string, status = 'True', rest = {}) => ({ type, status, ...rest })
const old = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-02T00:00:00Z' }

/** Returns the conditions after an update through a subresource, or the validation errors. */
function written(subresource: 'approval' | 'status', stored: JsonObject[], sent: JsonObject[]) {
  const context = { ...rules, subresource }
  const previous = requestObject(good, { conditions: stored.map((condition) => ({ ...old, ...condition })) })
  const next = requestObject({}, { conditions: sent })
  kind.views.subresources?.[subresource]?.prepareForUpdate(next, previous, context)
  const errors = [
    ...validate(kind.schema, asJson(next), context),
    ...((kind.rules.validateUpdate?.(next, previous, context) as FieldError[] | undefined) ?? []),
  ]
  assert.deepEqual(next.spec, previous.spec)
  return errors.length > 0 ? errorTexts(errors) : (next.status as JsonObject).conditions
}

const mayNot = ['status.conditions Forbidden']
const isNew = { lastUpdateTime: newYear, lastTransitionTime: newYear }
const conditions: ['approval' | 'status', string, JsonObject[], JsonObject[], unknown][] = [
  ['approval', 'Approved is added', [], [is('Approved')], [is('Approved', 'True', isNew)]],
  ['approval', 'Denied is added', [], [is('Denied')], [is('Denied', 'True', isNew)]],
  ['approval', 'Failed is added', [], [is('Failed')], [is('Failed', 'True', isNew)]],
  [
    'approval',
    'Denied and Approved are added',
    [],
    [is('Denied'), is('Approved')],
    ['status.conditions[1].type Invalid'],
  ],
  [
    'approval',
    'Approved is added to Denied',
    [is('Denied')],
    [is('Denied'), is('Approved')],
    ['status.conditions[1].type Invalid'],
  ],
  ['approval', 'Approved replaces Denied', [is('Denied')], [is('Approved')], mayNot],
  ['approval', 'Denied is removed', [is('Denied')], [], mayNot],
  ['approval', 'Failed is removed', [is('Failed')], [], mayNot],
  ['approval', 'Approved is False', [], [is('Approved', 'False')], ['status.conditions[0].status NotSupported']],
  ['approval', 'Failed is Unknown', [], [is('Failed', 'Unknown')], ['status.conditions[0].status NotSupported']],
  ['approval', 'unknown status', [], [is('Seen', 'Maybe')], ['status.conditions[0].status NotSupported']],
  ['approval', 'status is missing', [], [{ type: 'Approved' }], ['status.conditions[0].status Required']],
  ['approval', 'type is missing', [], [{ status: 'True' }], ['status.conditions[0].type Required']],
  ['approval', 'type is repeated', [], [is('Seen'), is('Seen')], ['status.conditions[1].type Duplicate']],
  [
    'approval',
    'another condition is removed',
    [is('Seen'), is('Queued')],
    [is('Seen')],
    [is('Seen', 'True', { ...old, lastUpdateTime: newYear })],
  ],
  ['approval', 'status of a condition changes', [is('Seen', 'False')], [is('Seen')], [is('Seen', 'True', isNew)]],
  ['approval', 'times from the client are kept', [], [is('Seen', 'True', old)], [is('Seen', 'True', old)]],
  ['status', 'Approved is added', [], [is('Approved')], mayNot],
  ['status', 'Denied is added', [], [is('Denied')], mayNot],
  ['status', 'Approved is removed', [is('Approved')], [], mayNot],
  ['status', 'Denied replaces Approved', [is('Approved')], [is('Denied')], [...mayNot, ...mayNot]],
  [
    'status',
    'Approved is modified',
    [is('Approved')],
    [is('Approved', 'False', { reason: 'X' })],
    [is('Approved', 'True', old)],
  ],
  ['status', 'Failed is added to a pending request', [], [is('Failed')], [is('Failed', 'True', isNew)]],
  [
    'status',
    'Failed is added after Approved',
    [is('Approved')],
    [is('Failed'), is('Approved')],
    [is('Failed', 'True', isNew), is('Approved', 'True', old)],
  ],
  ['status', 'Failed is removed', [is('Failed')], [], mayNot],
  [
    'status',
    'other conditions are added and removed',
    [is('Queued')],
    [is('Seen', 'Unknown')],
    [is('Seen', 'Unknown', isNew)],
  ],
]

for (const [subresource, name, stored, sent, expected] of conditions) {
  test(`validation of conditions written through ${subresource}: ${name}`, () =>
    assert.deepEqual(written(subresource, stored, sent), expected))
}

test('a stored CertificateSigningRequest for the legacy signer can still be approved', () => {
  const previous = requestObject({ ...good, signerName: 'orch.io/legacy-unknown' })
  const next = requestObject({}, { conditions: [is('Approved')] })
  const context = { ...rules, subresource: 'approval' }
  kind.views.subresources?.approval?.prepareForUpdate(next, previous, context)
  assert.deepEqual(validate(kind.schema, asJson(next), context), [])
  assert.deepEqual(kind.rules.validateUpdate?.(next, previous, context), [])
})

const cells: [string, JsonObject, string, string][] = [
  ['pending', {}, '<none>', 'Pending'],
  ['approved', { conditions: [is('Approved')] }, '<none>', 'Approved'],
  ['issued', { conditions: [is('Approved')], certificate: 'eA==' }, '24h', 'Approved,Issued'],
  ['failed', { conditions: [is('Approved'), is('Failed')] }, '24h', 'Approved,Failed'],
  ['denied', { conditions: [is('Seen'), is('Denied')] }, '<none>', 'Denied'],
]

for (const [name, status, duration, condition] of cells) {
  test(`the table row of a CertificateSigningRequest shows the state: ${name}`, () => {
    const object = requestObject(
      { ...good, username: 'jane', ...(duration === '24h' ? { expirationSeconds: 86400 } : {}) },
      status,
    )
    const shown = kind.views.columns?.map((column) => column.cell(object, 0, rules.vendor))
    assert.deepEqual(shown?.slice(2), ['example.com/signer', 'jane', duration, condition])
  })
}

const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

test('a running server enforces the rules for CertificateSigningRequests', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const authority = await makeAuthority()
  const issued = issueCertificate(template(authority))
  const certificate = Buffer.from(issued).toString('base64')
  const chain = Buffer.from(issued + authority.certificate).toString('base64')
  const put = (name: string, subresource: string, status: unknown) =>
    client.put(`${requests}/${name}${subresource}`, { metadata: { name }, spec: good, status })
  const create = (name: string) => client.post(requests, { metadata: { name }, spec: good })
  const approved = { conditions: [is('Approved')] }

  await t.test('the server records the user who created the CertificateSigningRequest', async () => {
    const { body } = await client.post(requests, { metadata: { name: 'who' }, spec: { ...good, username: 'root' } })
    const { username, uid, groups } = body.spec
    assert.deepEqual([username, uid, groups], ['admin', 'admin-uid', ['system:masters', 'system:authenticated']])
  })

  await t.test(
    'updating a CertificateSigningRequest without using a subresource changes neither its spec nor its status',
    async () => {
      const { body: requestObject } = await create('main')
      const change = {
        apiVersion: requestObject.apiVersion,
        kind: requestObject.kind,
        metadata: { name: 'main', labels: { a: 'b' } },
        spec: { request: 'eA==', signerName: 'nope', usages: ['any'], username: 'root' },
        status: { ...approved, certificate },
      }
      const answers: Answer[] = [await client.put(`${requests}/main`, change)]
      for (const type of Object.values(patchTypes))
        answers.push(
          await client.send(`${requests}/main?fieldManager=m${type === patchTypes.apply ? '&force=true' : ''}`, {
            method: 'PATCH',
            headers: { 'content-type': type },
            body: change,
          }),
        )
      for (const { status, body } of answers) {
        assert.equal(status, 200)
        assert.deepEqual([body.spec, body.status, body.metadata.labels], [requestObject.spec, {}, { a: 'b' }])
      }
    },
  )

  await t.test(
    'if a subresource ignores all fields of an apply, the apply changes nothing, even if the fields are invalid',
    async () => {
      const { body: requestObject } = await create('applied')
      const head = { apiVersion: requestObject.apiVersion, kind: requestObject.kind, metadata: { name: 'applied' } }
      const applyTo = (subresource: string, fields: object) =>
        client.send(`${requests}/applied/${subresource}?fieldManager=m`, {
          method: 'PATCH',
          headers: { 'content-type': patchTypes.apply },
          body: { ...head, spec: { request: 'no base64', usages: 5 }, ...fields },
        })
      for (const [subresource, status] of [
        ['status', approved],
        ['status', { conditions: [{ type: 'Failed', status: 'Nonsense' }] }],
        ['approval', { certificate: 'no base64' }],
      ] as const) {
        const { status: code, body } = await applyTo(subresource, { status })
        assert.equal(code, 200, body.message)
        assert.deepEqual([body.spec, body.status, body.metadata.managedFields], [requestObject.spec, {}, undefined])
      }
      const whole = await applyTo('approval', { status: { ...approved, certificate } })
      assert.deepEqual(
        [whole.status, whole.body.spec, whole.body.status.certificate],
        [200, requestObject.spec, undefined],
      )
      assert.deepEqual(Object.keys(whole.body.metadata.managedFields[0].fieldsV1['f:status']), ['f:conditions'])
    },
  )

  await t.test('conditions that are applied together with a certificate are validated', async () => {
    const { body: requestObject } = await create('signed')
    const sign = (status: object) =>
      client.send(`${requests}/signed/status?fieldManager=m`, {
        method: 'PATCH',
        headers: { 'content-type': patchTypes.apply },
        body: { apiVersion: requestObject.apiVersion, kind: requestObject.kind, metadata: { name: 'signed' }, status },
      })
    const refused = await sign({ certificate: 'aGVsbG8=', conditions: [{ type: 'Denied', status: 'Unknown' }] })
    assert.deepEqual(
      refused.body.details.causes
        .map(({ reason, field }: { reason: string; field: string }) => `${reason} ${field}`)
        .sort(),
      [
        'FieldValueForbidden status.conditions',
        'FieldValueInvalid status.certificate',
        'FieldValueNotSupported status.conditions[0].status',
      ],
    )
    const { status, body } = await sign({ certificate, conditions: [{ type: 'Seen', status: 'True' }] })
    assert.deepEqual([status, body.status.conditions[0].type, body.status.certificate], [200, 'Seen', certificate])
    // The status subresource does not record ownership of conditions.
    assert.deepEqual(Object.keys(body.metadata.managedFields[0].fieldsV1['f:status']), ['f:certificate'])
  })

  await t.test(
    'a certificate can be set only through the status of a CertificateSigningRequest, and only once',
    async () => {
      await create('issued')
      const through = await put('issued', '/approval', { ...approved, certificate })
      assert.deepEqual([through.status, through.body.status.certificate], [200, undefined])
      const refused = await put('issued', '/status', { ...approved, certificate: request })
      assert.deepEqual(refused.body.details.causes[0].field, 'status.certificate')
      const issued = await put('issued', '/status', { ...approved, certificate })
      assert.deepEqual([issued.status, issued.body.status.certificate], [200, certificate])
      for (const [sent, causes] of [
        [chain, 1],
        [undefined, 1],
        ['aGVsbG8=', 2],
      ] as const) {
        const { status, body } = await put('issued', '/status', { ...approved, certificate: sent })
        assert.deepEqual([status, body.details.causes.length], [422, causes])
      }
      const again = await put('issued', '/status', { ...approved, certificate })
      assert.equal(again.body.metadata.resourceVersion, issued.body.metadata.resourceVersion)
      const seen = await put('issued', '/approval', { conditions: [is('Approved'), is('Seen')] })
      assert.deepEqual([seen.status, seen.body.status.certificate], [200, certificate])
    },
  )

  await t.test(
    'a CertificateSigningRequest with several common names cannot be approved for a built-in signer',
    async () => {
      const two = requestPem({ subject: [rdn(utf8(oid.cn, 'jane')), rdn(utf8(oid.cn, 'joe'))] })
      const codes = []
      for (const [i, signerName] of ['orch.io/apiserver-client', 'example.com/signer'].entries()) {
        const spec = { ...good, request: Buffer.from(two).toString('base64'), signerName }
        codes.push((await client.post(requests, { metadata: { name: `several-${i}` }, spec })).status)
        codes.push((await put(`several-${i}`, '/approval', approved)).status)
        codes.push((await put(`several-${i}`, '/approval', { conditions: [is('Denied')] })).status)
      }
      // The request for the other signer can be approved. Afterwards, it cannot be denied, because a decision is final.
      assert.deepEqual(codes, [201, 422, 200, 201, 200, 422])
    },
  )

  await t.test(
    'managed fields of a CertificateSigningRequest never include the spec, and an approver never owns the certificate',
    async () => {
      const { body } = await client.post(requests, { metadata: { name: 'owned', labels: { a: 'b' } }, spec: good })
      assert.deepEqual(Object.keys(body.metadata.managedFields[0].fieldsV1), ['f:metadata'])
      const approval = await put('owned', '/approval', { ...approved, certificate })
      const entry = approval.body.metadata.managedFields.find((item: JsonObject) => item.subresource === 'approval')
      assert.deepEqual(Object.keys(entry.fieldsV1['f:status']), ['f:conditions'])
    },
  )

  await t.test('a field selector can select CertificateSigningRequests by signer name', async () => {
    await client.post(requests, { metadata: { name: 'elsewhere' }, spec: { ...good, signerName: 'else.where/signer' } })
    const { body } = await client.get(`${requests}?fieldSelector=spec.signerName%3Delse.where/signer`)
    assert.deepEqual(
      body.items.map((item: ApiObject) => item.metadata.name),
      ['elsewhere'],
    )
  })

  await t.test(
    'a CertificateSigningRequest may have any name that is a valid path segment, and a deletion returns a Status',
    async () => {
      await create('Any Name:1')
      const { status, body } = await client.delete(`${requests}/Any%20Name:1`)
      assert.deepEqual([status, body.kind, body.status], [200, 'Status', 'Success'])
    },
  )
})
