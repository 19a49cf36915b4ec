/**
 * Tests queries about the identity of the caller, the reasons for a decision, and the subjects that may perform an
 * action. Each kind of query requires a separate permission.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { serve } from '../../support/in-process.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'

const server = await serve({ after })
const admin = server.client()
const bob = server.client('bob-token')
const ops = '/apis/ops.orch.io/v1'
const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'

await admin.post(`${rbac}/roles`, {
  metadata: { name: 'reader' },
  rules: [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] },
    { verbs: ['delete'], apiGroups: ['apps'], resources: ['deployments'] },
  ],
})
await admin.post(`${rbac}/rolebindings`, {
  metadata: { name: 'reader' },
  roleRef: { kind: 'Role', name: 'reader' },
  subjects: [
    { kind: 'User', name: 'bob' },
    { kind: 'ServiceAccount', name: 'robot' },
  ],
})

const question = (verb: string, resource: string, namespace = 'default') => ({
  resourceAttributes: { verb, resource, namespace },
})

test('all users may query their own identity and permissions, and all other queries require permission', async () => {
  const { status, body } = await bob.post(`${ops}/whoamis`, {})
  assert.equal(status, 201)
  assert.deepEqual(body.status, { user: 'bob', uid: 'bob-uid', groups: ['system:authenticated'] })
  assert.equal((await server.client('').post(`${ops}/whoamis`, {})).status, 403)
  assert.equal((await bob.post(`${ops}/accessexplanations`, { spec: question('get', 'configmaps') })).status, 403)
  assert.equal((await bob.post(`${ops}/whocans`, { spec: question('get', 'configmaps') })).status, 403)
})

test('an access review records the field manager that sent it', async () => {
  const reviews = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews'
  const sent = { metadata: { managedFields: [{ manager: 'x' }] }, spec: question('get', 'configmaps') }
  const { body } = await bob.post(`${reviews}?fieldManager=m`, sent)
  const [entry, ...others] = body.metadata.managedFields
  const attributes = { '.': {}, 'f:namespace': {}, 'f:resource': {}, 'f:verb': {} }
  assert.deepEqual([entry.manager, entry.operation, others], ['m', 'Update', []])
  assert.deepEqual(entry.fieldsV1, { 'f:spec': { 'f:resourceAttributes': attributes } })
})

test('an access explanation names the closest rules, their bindings and the smallest sufficient rule', async () => {
  const why = async (spec: object) => (await admin.post(`${ops}/accessexplanations`, { spec })).body.status
  const refused = await why({ user: 'bob', ...question('delete', 'configmaps') })
  assert.equal(refused.allowed, false)
  assert.deepEqual(refused.nearRules[0], {
    rule: { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] },
    role: 'Role/reader',
    binding: 'RoleBinding/default/reader',
    lacks: ['verb'],
  })
  assert.deepEqual(refused.nearRules[1].lacks, ['apiGroup', 'resource'])
  assert.deepEqual(refused.smallestRule, { verbs: ['delete'], apiGroups: [''], resources: ['configmaps'] })
  const allowed = await why({ user: 'bob', ...question('get', 'configmaps') })
  assert.equal(allowed.allowed, true)
  assert.match(allowed.reason, /RoleBinding "reader\/default" of Role "reader" to User "bob"/)
  assert.match((await why(question('get', 'nodes'))).reason, /system:masters may do everything/)
  const path = await why({ user: 'bob', nonResourceAttributes: { verb: 'get', path: '/metrics' } })
  assert.deepEqual(path.smallestRule, { verbs: ['get'], nonResourceURLs: ['/metrics'] })
})

test('WhoCan lists all subjects that may perform the action, with their bindings', async () => {
  const who = async (spec: object) => (await admin.post(`${ops}/whocans`, { spec })).body.status
  const { subjects } = await who(question('get', 'configmaps'))
  const by = { role: 'Role/reader', binding: 'RoleBinding/default/reader' }
  const named = subjects.filter(({ role }: { role: string }) => role === 'Role/reader')
  assert.deepEqual(named, [
    { kind: 'User', name: 'bob', ...by },
    { kind: 'ServiceAccount', name: 'robot', namespace: 'default', ...by },
  ])
  assert.ok(subjects.some(({ name }: { name: string }) => name === 'system:masters'))
  const elsewhere = await who(question('get', 'configmaps', 'kube-system'))
  assert.ok(!elsewhere.subjects.some(({ name }: { name: string }) => name === 'bob'))
})

test('an access review that specifies no attributes is rejected', async () => {
  for (const kind of ['accessexplanations', 'whocans'])
    assert.equal((await admin.post(`${ops}/${kind}`, { spec: {} })).status, 422, kind)
})

test('a 403 response suggests the command that explains it, but only to users who may run it', async () => {
  const refused = async (path: string) => (await bob.get(path)).body.message as string
  const secrets = '/api/v1/namespaces/default/secrets'
  assert.doesNotMatch(await refused(secrets), /orchctl/)
  const cluster = '/apis/rbac.authorization.orch.io/v1'
  await admin.post(`${cluster}/clusterroles`, {
    metadata: { name: 'asker' },
    rules: [{ verbs: ['create'], apiGroups: ['ops.orch.io'], resources: ['accessexplanations'] }],
  })
  await admin.post(`${cluster}/clusterrolebindings`, {
    metadata: { name: 'asker' },
    roleRef: { kind: 'ClusterRole', name: 'asker' },
    subjects: [{ kind: 'User', name: 'bob' }],
  })
  const rows: readonly (readonly [path: string, command: string])[] = [
    [secrets, 'list secrets -n default'],
    [`${secrets}/a:b_c`, 'get secrets a:b_c -n default'],
    ['/api/v1/nodes', 'list nodes -A'],
    ['/apis/apps/v1/namespaces/x/deployments/d/scale', 'get deployments.apps/scale d -n x'],
    ['/metrics', 'get /metrics'],
  ]
  for (const [path, command] of rows)
    assert.match(await refused(path), new RegExp(`; to see why: orchctl auth why ${command.replaceAll('.', '\\.')}$`))
  for (const name of ['a$(id)', 'a;b', "a'b", 'a%20b', 'a%0ab', '-n'])
    assert.doesNotMatch(await refused(`${secrets}/${name}`), /orchctl/, name)

  const ask = async (...words: string[]) => {
    const ran = await orchctl(['auth', 'why', ...words, `--kubeconfig=${configOf(server)}`])
    return `${ran.stdout}${ran.stderr}`
  }
  const answer = await ask('delete', 'configmaps', '--user', 'bob', '-n', 'default')
  const lines = answer.trimEnd().split('\n')
  assert.match(lines[0]!, /^not allowed/)
  assert.match(
    lines[1]!,
    /^nearly: \{verbs: \["get","list"\], apiGroups: .*\} in Role\/reader by RoleBinding\/default\/reader; it lacks the verb$/,
  )
  assert.match(
    lines.at(-1)!,
    /^the smallest rule that would allow it: \{verbs: \["delete"\], apiGroups: \[""\], resources: \["configmaps"\]\}$/,
  )
  assert.match(await ask('get', '/metrics', '--user', 'bob'), /nonResourceURLs: \["\/metrics"\]/)
  assert.match(await ask('get', 'nodes', '-A'), /^allowed: members of system:masters/)
  assert.match(await ask('get'), /specify a verb and a resource or path/)
})

const authorization = '/apis/authorization.orch.io/v1'

test('health endpoints are accessible to system:authenticated and system:unauthenticated, but to no other groups', async () => {
  const mayRead = async (groups: readonly string[]) => {
    const nonResourceAttributes = { verb: 'get', path: '/healthz' }
    const spec = { user: 'jane', groups, nonResourceAttributes }
    return (await admin.post(`${authorization}/subjectaccessreviews`, { spec })).body.status
  }
  assert.deepEqual(await mayRead([]), { allowed: false })
  assert.deepEqual(await mayRead(['dev']), { allowed: false })
  for (const group of ['system:authenticated', 'system:unauthenticated']) {
    const { allowed, reason } = await mayRead([group])
    assert.equal(allowed, true)
    const role = '"system:(?:discovery|public-info-viewer)"'
    const binding = `ClusterRoleBinding ${role} of ClusterRole ${role} to Group "${group}"`
    assert.match(reason, new RegExp(`^RBAC: allowed by ${binding}$`))
  }
})

test('a SelfSubjectRulesReview for a superuser lists each rule once and does not echo the request', async () => {
  const review = { metadata: { labels: { a: 'b' } }, spec: { namespace: 'default' } }
  const { status, body } = await admin.post(`${authorization}/selfsubjectrulesreviews`, review)
  assert.equal(status, 201)
  assert.deepEqual([body.metadata, body.spec], [{}, {}])
  const { resourceRules, nonResourceRules } = body.status
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  assert.equal(resourceRules.filter((rule: object) => isDeepStrictEqual(rule, all)).length, 1)
  assert.ok(resourceRules.some(({ resources }: { resources: string[] }) => resources[0] === 'selfsubjectaccessreviews'))
  assert.ok(nonResourceRules.some((rule: object) => isDeepStrictEqual(rule, { verbs: ['*'], nonResourceURLs: ['*'] })))
  assert.ok(nonResourceRules.length > 1)
})
