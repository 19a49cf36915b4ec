/** Tests MutatingAdmissionPolicy: stored policies and bindings change objects. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const group = 'admissionregistration.orch.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'
const matchConstraints = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
}

const server = await serve({ after }, ['--emulated-version=1.36'])
const client = server.client()
let names = 0

function create(kind: string, name: string, spec: object) {
  const plural = kind.endsWith('Binding') ? 'mutatingadmissionpolicybindings' : 'mutatingadmissionpolicies'
  return client.post(`/apis/${group}/${plural}`, { apiVersion: group, kind, metadata: { name }, spec })
}

const config = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** Creates a policy with a binding. The policy applies only to objects whose names start with the returned prefix. */
async function install(mutations: object[], policy: object = {}, binding: object = {}): Promise<string> {
  const name = `p${++names}`
  const own = { name: 'own', expression: `request.name.startsWith('${name}-')` }
  const spec = { matchConstraints, matchConditions: [own], reinvocationPolicy: 'Never', mutations, ...policy }
  const made = await create('MutatingAdmissionPolicy', name, spec)
  assert.equal(made.status, 201, made.text)
  const madeBinding = await create('MutatingAdmissionPolicyBinding', name, { policyName: name, ...binding })
  assert.equal(madeBinding.status, 201, madeBinding.text)
  return `${name}-`
}

const write = (name: string, data: object) => client.post(configMaps, { metadata: { name }, data })

test('the mutations of a policy are applied in order, and each mutation receives the changes of the previous mutations', async () => {
  const prefix = await install(
    [
      config("Object{data: {'n': variables.first}, metadata: Object.metadata{labels: {'a': 'b'}}}"),
      config("Object{data: {'n': string(int(object.data.n) + 1)}}"),
      patch("[JSONPatch{op: 'replace', path: '/data/n', value: object.data.n + '!'}]"),
      patch("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x.io/y'), value: 'z'}]"),
      patch("[JSONPatch{op: 'test', path: '/data/n', value: 'other'}, JSONPatch{op: 'remove', path: '/data'}]"),
    ],
    { variables: [{ name: 'first', expression: "'1'" }] },
  )
  const { body, text } = await write(`${prefix}a`, { k: 'v' })
  assert.deepEqual(body.data, { k: 'v', n: '2!' }, text)
  assert.deepEqual(body.metadata.labels, { a: 'b', 'x.io/y': 'z' })
})

test('a mutating policy merges keyed lists', async () => {
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
  const added =
    "[Object.spec.containers{name: 'b', imagePullPolicy: 'Never'}, Object.spec.containers{name: 'c', image: 'c'}]"
  const prefix = await install([config(`Object{spec: Object.spec{containers: ${added}}}`)], {
    matchConstraints: { resourceRules },
  })
  await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i:1' }))
  const { body, text } = await client.post('/api/v1/namespaces/default/pods', {
    metadata: { name: `${prefix}a` },
    spec: { containers, serviceAccountName: 'default', automountServiceAccountToken: false },
  })
  const found = body.spec?.containers?.map((each: Record<string, string>) => [
    each.name,
    each.image,
    each.imagePullPolicy,
  ])
  const expected = [
    ['a', 'i:1', 'IfNotPresent'],
    ['b', 'i:1', 'Never'],
    ['c', 'c', 'Always'],
  ]
  assert.deepEqual(found, expected, text)
})

test('the failure policy of a mutating policy decides whether an error rejects the request or skips the policy', async () => {
  const rows: [object, RegExp][] = [
    [patch("[JSONPatch{op: 'remove', path: '/data/none'}]"), /JSON Patch: .*\/data\/none/],
    [config("Object{data: {'k': object.data.none}}"), /no such key: none/],
    [config('Object{nope: 1}'), /error applying patch: .*nope/],
    [config('Object{data: Object.metadata{}}'), /type mismatch: unexpected type name/],
    [config("Object{metadata: Object.metadata{ownerReferences: [{'a': 1}]}}"), /error applying patch/],
    [patch("[JSONPatch{op: 'add', path: '/data/n', value: [1]}]"), /the mutated object is invalid/],
  ]
  for (const [mutation, why] of rows) {
    const prefix = await install([mutation])
    const { status, body, text } = await write(`${prefix}a`, { k: 'v' })
    assert.equal(status, 403, text)
    assert.equal(body.reason, 'Invalid')
    assert.match(body.message, why)
    assert.match(body.details.causes[0].message, /^policy '.*' with binding '.*' denied request: /)
    const ignoring = await install([mutation, config("Object{data: {'m': '1'}}")], { failurePolicy: 'Ignore' })
    assert.deepEqual((await write(`${ignoring}a`, { k: 'v' })).body.data, { k: 'v', m: '1' })
  }
})

test('an ApplyConfiguration must not replace an atomic value', async () => {
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] }]
  const selector = "Object{spec: Object.spec{selector: {'a': 'b'}}}"
  const prefix = await install([config(selector)], { matchConstraints: { resourceRules } })
  const service = { metadata: { name: `${prefix}a` }, spec: { clusterIP: 'None', selector: { c: 'd' } } }
  const { status, text } = await client.post('/api/v1/namespaces/default/services', service)
  assert.equal(status, 403, text)
  assert.match(text, /may not mutate atomic arrays, maps or structs: .spec.selector/)
})

test('a mutating policy with reinvocationPolicy IfNeeded is applied again after a later change', async () => {
  const count = "Object{data: {'count': string('count' in object.data ? int(object.data.count) + 1 : 1)}}"
  const again = await install([config(count)], { reinvocationPolicy: 'IfNeeded' })
  assert.deepEqual((await write(`${again}a`, { k: '' })).body.data, { k: '', count: '2' })
  const once = await install([config(count)])
  assert.deepEqual((await write(`${once}a`, { k: '' })).body.data, { k: '', count: '1' })
})

test('a mutating policy gets its parameters from the objects that the binding names', async () => {
  const policy = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: {
      resourceRules: [{ ...matchConstraints.resourceRules[0], resourceNames: ['named-a', 'named-b'] }],
    },
    matchConditions: [],
  }
  const paramRef = { name: 'mutation-values', parameterNotFoundAction: 'Deny' }
  await install([config("Object{data: {'k': params.data.k}}")], policy, { paramRef })
  const refused = await write('named-a', {})
  assert.equal(refused.body.reason, 'Forbidden', refused.text)
  assert.match(refused.text, /failed to configure binding: no params found/)
  await write('mutation-values', { k: 'v' })
  assert.deepEqual((await write('named-b', {})).body.data, { k: 'v' })
})

test('the server validates the mutated object, and fields that a policy sets have no field manager', async () => {
  const prefix = await install([config("Object{data: {'not a key': 'x'}}")])
  assert.match((await write(`${prefix}a`, {})).text, /a valid config key must consist of/)
  const other = await install([config("Object{data: {'mark': 'x'}}")])
  const { body } = await write(`${other}a`, { k: 'v' })
  assert.deepEqual(Object.keys(body.metadata.managedFields[0].fieldsV1['f:data']), ['.', 'f:k'])
  assert.equal(body.data.mark, 'x')
  const metrics = await client.send('/metrics')
  assert.match(metrics.text, /apiserver_mutating_admission_policy_check_total\{.*error_type="no_error"/)
})

test('invalid mutating policies and bindings are rejected', async () => {
  const rows: [object, string][] = [
    [{ mutations: [] }, 'spec.mutations'],
    [{ mutations: [{ patchType: 'Merge' }] }, 'spec.mutations[0].patchType'],
    [{ mutations: [{ patchType: 'JSONPatch' }] }, 'spec.mutations[0].jsonPatch'],
    [
      { mutations: [{ ...patch('[JSONPatch{}]'), ...config('Object{}'), patchType: 'JSONPatch' }] },
      'spec.mutations[0].applyConfiguration',
    ],
    [{ mutations: [config("'x'")] }, 'spec.mutations[0].applyConfiguration.expression'],
    [{ mutations: [patch('Object{}')] }, 'spec.mutations[0].jsonPatch.expression'],
    [{ mutations: [patch('[]')] }, 'spec.mutations[0].jsonPatch.expression'],
    [{ reinvocationPolicy: 'Always' }, 'spec.reinvocationPolicy'],
    [{ reinvocationPolicy: undefined }, 'spec.reinvocationPolicy'],
    [{ variables: [{ name: 'a', expression: 'variables.b' }] }, 'spec.variables[0].expression'],
    [
      { matchConstraints: { resourceRules: [{ ...matchConstraints.resourceRules[0], operations: ['DELETE'] }] } },
      'spec.matchConstraints.resourceRules.operations',
    ],
  ]
  for (const [wrong, field] of rows) {
    const spec = { matchConstraints, reinvocationPolicy: 'Never', mutations: [config('Object{}')], ...wrong }
    const { status, body, text } = await create('MutatingAdmissionPolicy', 'wrong', spec)
    assert.equal(status, 422, text)
    const fields = body.details.causes.map((cause: { field: string }) => cause.field)
    assert.ok(fields.includes(field), text)
  }
  assert.equal(
    (await create('MutatingAdmissionPolicyBinding', 'wrong', {})).body.details.causes[0].field,
    'spec.policyName',
  )
})
