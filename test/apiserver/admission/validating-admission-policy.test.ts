/** Tests ValidatingAdmissionPolicy: stored policies and bindings decide whether requests are admitted. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { threadCpuMs } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'

const group = 'admissionregistration.orch.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'
const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
}

const server = await serve({ after }, ['--emulated-version=1.36'])
const client = server.client()
let names = 0

function create(kind: string, name: string, spec: object) {
  const plural = kind.endsWith('Binding') ? 'validatingadmissionpolicybindings' : 'validatingadmissionpolicies'
  return client.post(`/apis/${group}/${plural}`, { apiVersion: group, kind, metadata: { name }, spec })
}

/**
 * Creates a policy with a binding. The policy applies only to ConfigMaps whose names start with the returned prefix.
 */
async function install(policy: object, binding: object = {}): Promise<string> {
  const name = `p${++names}`
  const own = { name: 'own', expression: `request.name.startsWith('${name}-')` }
  const spec = { matchConstraints, matchConditions: [own], ...policy }
  const made = await create('ValidatingAdmissionPolicy', name, spec)
  assert.equal(made.status, 201, made.text)
  const bound = { policyName: name, validationActions: ['Deny'], ...binding }
  const madeBinding = await create('ValidatingAdmissionPolicyBinding', name, bound)
  assert.equal(madeBinding.status, 201, madeBinding.text)
  return `${name}-`
}

const write = (name: string, data: object) => client.post(configMaps, { metadata: { name }, data })

test('a policy expression that evaluates to false rejects the request with its message and reason', async () => {
  const prefix = await install({
    variables: [
      { name: 'n', expression: "'n' in object.data ? int(object.data.n) : 0" },
      { name: 'absent', expression: 'object.data.nowhere' },
    ],
    validations: [
      { expression: 'variables.n <= 3', messageExpression: "'n is ' + string(variables.n)" },
      { expression: 'variables.n != 2', message: 'two', reason: 'Forbidden' },
      { expression: "variables.n != 1 || variables.absent == ''" },
    ],
  })
  const rows: [string, object, number, RegExp][] = [
    ['a', { n: '9' }, 422, /denied request: n is 9/],
    ['b', { n: '2' }, 403, /denied request: two/],
    ['c', { n: '1' }, 422, /fails to evaluate: no such key: nowhere/],
    ['d', { n: 'x' }, 422, /type conversion error/],
    ['e', { x: '' }, 201, /ConfigMap/],
  ]
  for (const [name, data, status, message] of rows) {
    const answer = await write(prefix + name, data)
    assert.equal(answer.status, status, answer.text)
    assert.match(answer.text, message)
  }
})

test('the failure policy Ignore of a validating policy admits requests whose expressions fail', async () => {
  const prefix = await install({ failurePolicy: 'Ignore', validations: [{ expression: "object.data.k == 'x'" }] })
  assert.equal((await write(`${prefix}a`, { other: '' })).status, 201)
  assert.equal((await write(`${prefix}b`, { k: 'y' })).status, 422)
})

test('a policy expression that exceeds the cost limit is aborted', async () => {
  const loop = 'object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a + b + c + d != ""))))'
  const prefix = await install({ validations: [{ expression: loop }] })
  const data = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key${i}`, 'v'.repeat(20)]))
  const answer = await write(`${prefix}a`, data)
  assert.match(answer.text, /cost limit exceeded/)
})

test('other requests can run between the expressions of an expensive policy', async () => {
  const expression = 'object.data.list.split(",").filter(x, x.startsWith("q")).size() >= 0'
  const prefix = await install({ validations: Array.from({ length: 20 }, () => ({ expression })) })
  let last = threadCpuMs()
  let longestMs = 0
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, threadCpuMs() - last)
    last = threadCpuMs()
  }, 1)
  const began = last
  assert.equal((await write(`${prefix}a`, { list: 'a,'.repeat(10_000) })).status, 201)
  const totalMs = threadCpuMs() - began
  clearInterval(timer)
  longestMs = Math.max(longestMs, threadCpuMs() - last)
  assert.ok(longestMs < totalMs / 3, `the longest turn takes ${longestMs} of ${totalMs} ms of processor time`)
})

test('a policy binding with the action Warn adds a warning and admits the request', async () => {
  const prefix = await install(
    { validations: [{ expression: 'false', message: 'careful' }] },
    { validationActions: ['Warn', 'Audit'] },
  )
  const answer = await write(`${prefix}a`, {})
  assert.equal(answer.status, 201, answer.text)
  assert.match(String(answer.headers.warning), /Validation failed for ValidatingAdmissionPolicy .*: careful/)
})

test('missing parameters and failing audit annotations deny the request regardless of the binding actions', async () => {
  const rule = { ...matchConstraints.resourceRules[0], resourceNames: ['misconfigured'] }
  const policy = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [],
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: 'true' }],
  }
  const paramRef = { name: 'absent-parameters', parameterNotFoundAction: 'Deny' }
  await install(policy, { validationActions: ['Warn'], paramRef })
  const misconfigured = await write('misconfigured', {})
  assert.equal(misconfigured.status, 422, misconfigured.text)
  assert.match(misconfigured.text, /no params found/)
  const annotation = { key: 'a', valueExpression: 'string(object.data.absent)' }
  const prefix = await install({ auditAnnotations: [annotation] }, { validationActions: ['Audit'] })
  const annotated = await write(`${prefix}a`, { k: '' })
  assert.equal(annotated.status, 422, annotated.text)
  assert.match(annotated.text, /no such key: absent/)
})

test('a validating policy gets its parameters from the objects that the binding names or selects', async () => {
  // A binding without parameters denies every request that its rules match, before any match condition is evaluated.
  const rule = { ...matchConstraints.resourceRules[0], resourceNames: ['named-a', 'named-b', 'named-c'] }
  const policy = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [],
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      { expression: 'int(object.data.n) <= int(params.data.max)', messageExpression: "'max ' + params.data.max" },
    ],
  }
  await install(policy, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
  assert.match((await write('named-a', { n: '1' })).text, /no params found/)
  assert.equal((await write('limits', { max: '3' })).status, 201)
  assert.match((await write('named-b', { n: '9' })).text, /denied request: max 3/)
  assert.equal((await write('named-c', { n: '2' })).status, 201)
  const selector = { matchLabels: { role: 'limit' } }
  const { paramKind, validations } = policy
  const selected = await install(
    { paramKind, validations },
    { paramRef: { selector, parameterNotFoundAction: 'Allow' } },
  )
  assert.equal((await write(`${selected}a`, { n: '9' })).status, 201)
  await client.post(configMaps, { metadata: { name: 'other', labels: { role: 'limit' } }, data: { max: '7' } })
  assert.match((await write(`${selected}b`, { n: '9' })).text, /denied request: max 7/)
})

test('policy expressions can query the authorizer', async () => {
  const prefix = await install({
    validations: [
      { expression: "authorizer.group('').resource('secrets').subresource('').check('delete').allowed()" },
      { expression: "!authorizer.serviceAccount('default', 'x').path('/metrics').check('get').allowed()" },
      { expression: "!authorizer.path('/metrics').check('get').errored()" },
      { expression: "authorizer.path('/metrics').check('get').error() == ''" },
      { expression: "authorizer.requestResource.name('a').namespace('b').check('get').reason() != 'x'" },
      { expression: "authorizer.requestResource.fieldSelector('a=b').labelSelector('c').check('get').allowed()" },
    ],
  })
  const answer = await write(`${prefix}a`, {})
  assert.equal(answer.status, 201, answer.text)
})

test('validating policies can exclude requests by rule, name and selector', async () => {
  const excludeResourceRules = [{ ...matchConstraints.resourceRules[0], resourceNames: ['free'] }]
  const objectSelector = { matchLabels: { strict: 'yes' } }
  const spec = {
    matchConstraints: { ...matchConstraints, excludeResourceRules, objectSelector },
    matchConditions: [],
    validations: [{ expression: 'false' }],
  }
  await install(spec)
  const labels = { strict: 'yes' }
  assert.equal((await client.post(configMaps, { metadata: { name: 'free', labels } })).status, 201)
  assert.equal((await client.post(configMaps, { metadata: { name: 'plain' } })).status, 201)
  assert.equal((await client.post(configMaps, { metadata: { name: 'strict', labels } })).status, 422)
})

test('invalid validating policies and bindings are rejected', async () => {
  const policies: [object, string][] = [
    [{}, 'spec.validations'],
    [{ validations: [{ expression: 'object.' }] }, 'spec.validations[0].expression'],
    [{ validations: [{ expression: "'text'" }] }, 'spec.validations[0].expression'],
    [{ validations: [{ expression: 'request.nope == 1' }] }, 'spec.validations[0].expression'],
    [{ validations: [{ expression: 'true', messageExpression: '1' }] }, 'spec.validations[0].messageExpression'],
    [{ validations: [{ expression: 'true', reason: 'Teapot' }] }, 'spec.validations[0].reason'],
    [{ validations: [{ expression: 'true', message: 'a\rb' }] }, 'spec.validations[0].message'],
    [{ variables: [{ name: 'a', expression: 'variables.b' }] }, 'spec.variables[0].expression'],
    [{ variables: [{ name: 'in', expression: '1' }] }, 'spec.variables[0].name'],
    [{ auditAnnotations: [{ key: 'a', valueExpression: '1' }] }, 'spec.auditAnnotations[0].valueExpression'],
    [{ matchConditions: [{ name: 'a b', expression: 'true' }] }, 'spec.matchConditions[0].name'],
    [{ paramKind: { apiVersion: 'a/b/c', kind: 'X' } }, 'spec.paramKind.apiVersion'],
  ]
  for (const [spec, field] of policies) {
    const { status, body } = await create('ValidatingAdmissionPolicy', 'wrong', { matchConstraints, ...spec })
    assert.equal(status, 422, JSON.stringify(spec))
    assert.ok(
      body.details.causes.some((cause: { field: string }) => cause.field === field),
      JSON.stringify(body),
    )
  }
  const bindings: [object, string][] = [
    [{ validationActions: [] }, 'spec.validationActions'],
    [{ validationActions: ['Deny', 'Warn'] }, 'spec.validationActions'],
    [{ validationActions: ['Log'] }, 'spec.validationActions[0]'],
    [{ paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } }, 'spec.paramRef.name'],
    [{ paramRef: { name: 'a' } }, 'spec.paramRef.parameterNotFoundAction'],
    [{ paramRef: { name: 'a/b', parameterNotFoundAction: 'Deny' } }, 'spec.paramRef.name'],
  ]
  for (const [spec, field] of bindings) {
    const full = { policyName: 'p', validationActions: ['Deny'], ...spec }
    const { status, body } = await create('ValidatingAdmissionPolicyBinding', 'wrong', full)
    assert.equal(status, 422, JSON.stringify(spec))
    assert.ok(
      body.details.causes.some((cause: { field: string }) => cause.field === field),
      JSON.stringify(body),
    )
  }
})

test('policy expressions may contain line breaks, and parameter names may be any valid path segments', async () => {
  const action = { parameterNotFoundAction: 'Allow', namespace: 'default' }
  const prefix = await install(
    { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: "object.data.a\n != 'b'" }] },
    { paramRef: { name: 'Not:a_subdomain', ...action } },
  )
  assert.equal((await write(`${prefix}a`, { a: 'b' })).status, 201)
})

test('the author of a validating policy must have permission to read its parameters', async () => {
  const role = { rules: [{ apiGroups: ['admissionregistration.orch.io'], resources: ['*'], verbs: ['*'] }] }
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  await client.post(`${rbac}/clusterroles`, { metadata: { name: 'policies' }, ...role })
  await client.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'policies' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'policies' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'carol' }],
  })
  const spec = { matchConstraints, validations: [{ expression: 'true' }] }
  const post = (name: string, more: object) =>
    client.send(`/apis/${group}/validatingadmissionpolicies`, {
      method: 'POST',
      headers: { 'impersonate-user': 'carol' },
      body: { metadata: { name }, spec: { ...spec, ...more } },
    })
  assert.equal((await post('carols', {})).status, 201)
  const refused = await post('carols-parameters', { paramKind: { apiVersion: 'v1', kind: 'Secret' } })
  assert.equal(refused.status, 422, refused.text)
  assert.match(refused.text, /spec.paramKind/)
})

test('an admission explanation shows each policy, its deciding expression and the values of its variables', async () => {
  const prefix = await install({
    variables: [
      { name: 'n', expression: 'int(object.data.n)' },
      { name: 'names', expression: "[object.metadata.name, 'b']" },
      { name: 'unused', expression: '1' },
      { name: 'absent', expression: 'object.data.nowhere' },
    ],
    validations: [
      { expression: 'variables.n != 9 || variables.names.size() == 0', message: 'too large' },
      { expression: "variables.n != 7 || variables.absent == ''" },
    ],
  })
  const name = prefix.slice(0, -1)
  const explain = async (n: string) => {
    const headers = { 'explain-admission': 'true', 'content-type': 'application/json' }
    const body = { metadata: { name: `${prefix}${n}` }, data: { n } }
    const answer = await client.send(configMaps, { method: 'POST', headers, body })
    const looks = JSON.parse(String(answer.headers['admission-trace'])) as {
      policy?: { name: string; variables: object }
      ms: number
    }[]
    const { ms: _, ...look } = looks.find(({ policy }) => policy?.name === name)!
    return { status: answer.status, look }
  }
  const names = (n: string) => `["${prefix}${n}", "b"]`
  const look = (said: string, policy: object) => ({
    control: 'ValidatingAdmissionPolicy',
    step: 'validate',
    said,
    policy: { name, binding: name, ...policy },
  })
  assert.deepEqual(await explain('9'), {
    status: 422,
    look: look('too large', {
      expression: 'variables.n != 9 || variables.names.size() == 0',
      variables: { n: '9', names: names('9') },
    }),
  })
  const failed = await explain('7')
  assert.equal(failed.status, 422)
  assert.deepEqual(failed.look.policy?.variables, {
    n: '7',
    absent: 'error: composited variable "absent" fails to evaluate: no such key: nowhere',
  })
  assert.deepEqual(await explain('1'), { status: 201, look: look('allowed', { variables: { n: '1' } }) })
})
