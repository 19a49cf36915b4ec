/** Tests impersonation: all headers, separate authorization of each value, and implicit groups. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { sendHead } from '../../support/raw-http.ts'

const server = await serve({ after }, ['-v=3'])
const admin = server.client()
const rbac = '/apis/rbac.authorization.orch.io/v1'

const rules = [
  { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['jane'] },
  { verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: ['b,c', 'a'] },
  {
    verbs: ['impersonate'],
    apiGroups: ['authentication.orch.io'],
    resources: ['userextras/example.com/scopes'],
    resourceNames: ['view'],
  },
  { verbs: ['impersonate'], apiGroups: ['authentication.orch.io'], resources: ['uids'], resourceNames: ['u-1'] },
]
await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'actor' }, rules })
await admin.post(`${rbac}/clusterrolebindings`, {
  metadata: { name: 'actor' },
  roleRef: { kind: 'ClusterRole', name: 'actor' },
  subjects: [{ kind: 'User', name: 'alice' }],
})
// The permission to impersonate a service account is checked in the namespace of the account.
await admin.post(`${rbac}/namespaces/default/roles`, {
  metadata: { name: 'robots' },
  rules: [{ verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'] }],
})
await admin.post(`${rbac}/namespaces/default/rolebindings`, {
  metadata: { name: 'robots' },
  roleRef: { kind: 'Role', name: 'robots' },
  subjects: [{ kind: 'User', name: 'alice' }],
})

type Headers = readonly (readonly [name: string, value: string])[]

/** Sends these raw headers and returns the response. */
async function ask(token: string, headers: Headers, path = '/api/v1/secrets') {
  return await sendHead(server, [
    `GET ${path} HTTP/1.1`,
    `Authorization: Bearer ${token}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ])
}

const jane = ['Impersonate-User', 'jane'] as const

/**
 * The headers that alice sends, and the expected rejection. Without a rejection, alice acts as jane, who may not list
 * Secrets either.
 */
const table: readonly (readonly [title: string, headers: Headers, refused: string | undefined])[] = [
  ['a user', [jane], undefined],
  ['the header name in another case', [['impersonate-USER', 'jane']], undefined],
  ['another user', [['Impersonate-User', 'joe']], 'users \\"joe\\"'],
  [
    'a user in system:masters',
    [
      ['Impersonate-User', 'admin'],
      ['Impersonate-Group', 'system:masters'],
    ],
    'users \\"admin\\"',
  ],
  ['the group system:masters', [jane, ['Impersonate-Group', 'system:masters']], 'groups \\"system:masters\\"'],
  ['a group', [jane, ['Impersonate-Group', 'a']], undefined],
  ['two groups', [jane, ['Impersonate-Group', 'a'], ['Impersonate-Group', 'b,c']], undefined],
  ['groups split at a comma', [jane, ['Impersonate-Group', 'b'], ['Impersonate-Group', 'c']], 'groups \\"b\\"'],
  ['the second group', [jane, ['Impersonate-Group', 'a'], ['Impersonate-Group', 'x']], 'groups \\"x\\"'],
  ['an extra', [jane, ['Impersonate-Extra-example.com%2Fscopes', 'view']], undefined],
  ['an extra key in capitals', [jane, ['Impersonate-Extra-EXAMPLE.com%2fSCOPES', 'view']], undefined],
  [
    'another value of the extra key',
    [jane, ['Impersonate-Extra-example.com%2Fscopes', 'view'], ['Impersonate-Extra-example.com%2Fscopes', 'edit']],
    'userextras.authentication.orch.io \\"edit\\"',
  ],
  ['another key', [jane, ['Impersonate-Extra-scopes', 'view']], 'userextras.authentication.orch.io \\"view\\"'],
  ['a uid', [jane, ['Impersonate-Uid', 'u-1']], undefined],
  ['another uid', [jane, ['Impersonate-Uid', 'u-2']], 'uids.authentication.orch.io \\"u-2\\"'],
  [
    'a service account in another namespace',
    [['Impersonate-User', 'system:serviceaccount:kube-system:x']],
    'serviceaccounts \\"x\\"',
  ],
]

test('each impersonated value is authorized separately', async () => {
  for (const [title, headers, refused] of table) {
    const { status, text } = await ask('alice-token', headers)
    assert.equal(status, 403, title)
    const told =
      refused === undefined
        ? 'User \\"jane\\" cannot list'
        : `${refused} is forbidden: User \\"alice\\" cannot impersonate`
    assert.ok(text.includes(told), `${title}: ${text}`)
  }
  const account = await ask('alice-token', [['Impersonate-User', 'system:serviceaccount:default:x']])
  assert.match(account.text, /User \\"system:serviceaccount:default:x\\" cannot list/)
  assert.match((await ask('bob-token', [jane])).text, /User \\"bob\\" cannot impersonate/)
})

test('impersonation headers that are duplicated or incomplete, or that lack a user, are rejected', async () => {
  const cases: readonly Headers[] = [
    [['Impersonate-Group', 'a']],
    [['Impersonate-Uid', 'u-1']],
    [['Impersonate-Extra-scopes', 'view']],
    [['Impersonate-Unknown', 'x']],
    // The identity that the server uses as a client of node agents. No API request may have this user.
    [['Impersonate-User', 'system:apiserver-node-client']],
    [['Impersonate-Group', '']],
    [['Impersonate-Extra-scopes', '']],
    [
      ['Impersonate-User', ''],
      ['Impersonate-Group', 'system:masters'],
    ],
    [jane, ['Impersonate-Group', '']],
    [
      ['Impersonate-User', 'system:serviceaccount:default:x'],
      ['Impersonate-Group', ''],
    ],
    [jane, ['Impersonate-Extra-scopes', '']],
    [jane, ['Impersonate-Extra-', 'view']],
    [jane, jane],
    [jane, ['Impersonate-User', 'joe']],
    [jane, ['Impersonate-Uid', 'u-1'], ['Impersonate-Uid', 'u-1']],
  ]
  for (const headers of cases)
    for (const token of ['admin-token', 'alice-token'])
      assert.equal((await ask(token, headers)).status, 400, JSON.stringify(headers))
})

test('an empty user name in the impersonation header means that no user is impersonated', async () => {
  const { status, text } = await ask('alice-token', [['Impersonate-User', '']])
  assert.equal(status, 403)
  assert.match(text, /User \\"alice\\" cannot list/)
})

/** Returns the rules of the impersonated user according to the server. */
async function identityOf(headers: { readonly [name: string]: string }): Promise<object> {
  const { body } = await admin.send('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', {
    method: 'POST',
    headers,
    body: { spec: { namespace: 'default' } },
  })
  return body.status
}

test('impersonated service accounts get their groups, and every user gets system:authenticated or system:unauthenticated', async () => {
  const rulesOf = async (user: string, group?: string) =>
    JSON.stringify(await identityOf({ 'impersonate-user': user, ...(group ? { 'impersonate-group': group } : {}) }))
  await admin.post(`${rbac}/clusterroles`, {
    metadata: { name: 'reviewing' },
    rules: [{ verbs: ['create'], apiGroups: ['authorization.orch.io'], resources: ['selfsubjectrulesreviews'] }],
  })
  await admin.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'reviewing' },
    roleRef: { kind: 'ClusterRole', name: 'reviewing' },
    subjects: [{ kind: 'Group', name: 'system:unauthenticated' }],
  })
  const ofAll = '/openapi/v2'
  const ofAccounts = '/openid/v1/jwks'
  assert.match(await rulesOf('jane'), /\/apis\/\*/)
  assert.doesNotMatch(await rulesOf('jane', 'system:unauthenticated'), /\/apis\/\*/)
  assert.doesNotMatch(await rulesOf('system:anonymous'), /\/apis\/\*/)
  assert.ok(!(await rulesOf('jane')).includes(ofAccounts), ofAll)
  assert.ok((await rulesOf('system:serviceaccount:a:b')).includes(ofAccounts))
})

test('the log names both the user and the impersonated user', async () => {
  await ask('alice-token', [jane], '/api/v1/configmaps')
  assert.match(server.output(), /path="\/api\/v1\/configmaps" user="alice" as="jane"/)
})
