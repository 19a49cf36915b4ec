/**
 * Tests the access matrix: every kind of credential, combined with every verb and every notation of the path. The
 * expected results are listed as data. The test fails if the server decides differently or if any stored object
 * changes.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HttpClient } from '../../support/http-client.ts'
import { asIssuer, makeIdentity, pairOf } from '../../support/identities.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { caOf } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const home = '/api/v1/namespaces/default/secrets'
const name = `${home}/s`
const dry = 'dryRun=All'
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
const hidden = 'aGlkZGVu'

type Person = 'master' | 'known' | 'anonymous' | 'wrong' | 'aspiring' | 'nobody else'

/** All kinds of credentials. `certificate` is the client certificate of the connection. */
const credentials: readonly {
  name: string
  who: Person
  authorization?: string
  certificate?: string
  more?: Headers
}[] = [
  { name: 'token of a user in system:masters', who: 'master', authorization: 'Bearer admin-token' },
  { name: 'scheme in lower case', who: 'master', authorization: 'bearer admin-token' },
  { name: 'surrounding whitespace', who: 'master', authorization: '  Bearer admin-token  ' },
  { name: 'extra word after the token', who: 'master', authorization: 'Bearer admin-token more' },
  { name: 'certificate of a user in system:masters', who: 'master', certificate: 'admin' },
  { name: 'valid certificate and invalid token', who: 'master', certificate: 'admin', authorization: 'Bearer x' },
  {
    name: 'invalid certificate and valid token',
    who: 'master',
    certificate: 'alien',
    authorization: 'Bearer admin-token',
  },
  { name: 'token of an ordinary user', who: 'known', authorization: 'Bearer alice-token' },
  { name: 'scheme in upper case', who: 'known', authorization: 'BEARER alice-token' },
  { name: 'certificate of an ordinary user', who: 'known', certificate: 'plain' },
  { name: 'nothing', who: 'anonymous' },
  { name: 'empty header', who: 'anonymous', authorization: '' },
  { name: 'no token', who: 'anonymous', authorization: 'Bearer' },
  { name: 'two spaces', who: 'anonymous', authorization: 'Bearer  admin-token' },
  { name: 'unsupported scheme', who: 'anonymous', authorization: 'Basic YWRtaW46YWRtaW4=' },
  {
    name: 'user name from a proxy header',
    who: 'anonymous',
    more: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  },
  { name: 'invalid token', who: 'wrong', authorization: 'Bearer admin-token2' },
  { name: 'token with letters in another case', who: 'wrong', authorization: 'Bearer ADMIN-TOKEN' },
  { name: 'valid token as the second word', who: 'wrong', authorization: 'Bearer x admin-token' },
  { name: 'certificate from another CA', who: 'wrong', certificate: 'alien' },
  {
    name: 'ordinary user impersonating a user in system:masters',
    who: 'aspiring',
    authorization: 'Bearer alice-token',
    more: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
  },
  {
    name: 'impersonated group without a user',
    who: 'nobody else',
    authorization: 'Bearer alice-token',
    more: { 'impersonate-group': 'system:masters' },
  },
]

type Headers = { readonly [name: string]: string }

/** All verbs, each with a request that has no effect even if it is allowed, and with the expected status. */
const verbs: readonly {
  verb: string
  method: string
  path: string
  query?: string
  type?: string
  body?: unknown
  done: number
}[] = [
  { verb: 'get', method: 'GET', path: name, done: 200 },
  // The server authorizes such requests like a GET but does not serve them.
  { verb: 'head', method: 'HEAD', path: name, done: 405 },
  { verb: 'list', method: 'GET', path: home, done: 200 },
  { verb: 'list all', method: 'GET', path: '/api/v1/secrets', done: 200 },
  { verb: 'watch', method: 'GET', path: home, query: 'watch=1&timeoutSeconds=1&resourceVersion=0', done: 200 },
  { verb: 'create', method: 'POST', path: home, query: dry, body: { metadata: { name: 'new' } }, done: 201 },
  { verb: 'update', method: 'PUT', path: name, query: dry, body: secret, done: 200 },
  {
    verb: 'patch, JSON',
    method: 'PATCH',
    path: name,
    query: dry,
    type: 'application/json-patch+json',
    body: [],
    done: 200,
  },
  {
    verb: 'patch, merge',
    method: 'PATCH',
    path: name,
    query: dry,
    type: 'application/merge-patch+json',
    body: {},
    done: 200,
  },
  {
    verb: 'patch, strategic',
    method: 'PATCH',
    path: name,
    query: dry,
    type: 'application/strategic-merge-patch+json',
    body: {},
    done: 200,
  },
  {
    verb: 'apply',
    method: 'PATCH',
    path: name,
    query: `${dry}&fieldManager=m`,
    type: 'application/apply-patch+yaml',
    body: secret,
    done: 200,
  },
  { verb: 'delete', method: 'DELETE', path: name, query: dry, done: 200 },
  { verb: 'delete collection', method: 'DELETE', path: home, query: dry, done: 200 },
  {
    verb: 'create, cluster scope',
    method: 'POST',
    path: '/api/v1/namespaces',
    query: dry,
    body: { metadata: { name: 'new' } },
    done: 201,
  },
]

/**
 * All notations of a path. The server either treats a notation like the plain path or rejects it before authentication.
 */
const spellings: readonly { name: string; spell: (path: string) => string; refused?: number }[] = [
  { name: 'plain', spell: (path) => path },
  { name: 'trailing slash', spell: (path) => `${path}/` },
  { name: 'encoded letter', spell: (path) => path.replace('/v1/', '/%76%31/') },
  { name: 'percent-encoded first path segment', spell: (path) => path.replace('/api/', '/%61pi/') },
  { name: 'two slashes', spell: (path) => path.replace('/v1/', '//v1/'), refused: 404 },
  { name: 'dot segment', spell: (path) => path.replace('/v1/', '/./v1/'), refused: 400 },
  { name: 'parent segment', spell: (path) => path.replace('/v1/', '/v2/%2e%2e/v1/'), refused: 400 },
  { name: 'encoded slash', spell: (path) => path.replace('/v1/', '%2fv1/'), refused: 404 },
]

type Decisions = { readonly [P in Person]: 'done' | number }
const denying: Decisions = { master: 'done', known: 403, anonymous: 403, wrong: 401, aspiring: 403, 'nobody else': 400 }
const allowing: Decisions = {
  master: 'done',
  known: 'done',
  anonymous: 401,
  wrong: 401,
  aspiring: 'done',
  'nobody else': 400,
}
const open: Decisions = { ...allowing, anonymous: 'done' }

const modes: readonly { flags: readonly string[]; decisions: Decisions; every: typeof spellings }[] = [
  { flags: [], decisions: denying, every: spellings },
  { flags: ['--anonymous-auth=false'], decisions: { ...denying, anonymous: 401 }, every: spellings.slice(0, 1) },
  { flags: ['--authorization-mode=AlwaysDeny,AlwaysAllow'], decisions: allowing, every: spellings.slice(0, 1) },
  {
    flags: ['--authorization-mode=AlwaysAllow', '--anonymous-auth=true'],
    decisions: open,
    every: spellings.slice(0, 1),
  },
]

/** Number of concurrent requests. Most requests finish immediately, but a watch takes a second. */
const atOnce = 32

for (const { flags, decisions, every } of modes) {
  const combinations = credentials.flatMap((credential) =>
    verbs.flatMap((verb) => every.map((spelling) => ({ credential, verb, spelling }))),
  )
  test(`the server authorizes ${combinations.length} combinations of users and requests correctly with ${flags.join(' ') || 'no flags'}`, {
    timeout: 300_000,
  }, async (t) => {
    const server = await serve(t, flags)
    const assertAlive = survivalCheck(server)
    await server.client().post(home, { ...secret, data: { k: hidden } })
    const before = await stateOf(server)
    const clients = await clientsOf(server)
    t.after(() => {
      for (const client of clients.values()) client.close()
    })

    const faults: string[] = []
    const remainingCases = combinations.values()
    const work = async () => {
      for (const { credential, verb, spelling } of remainingCases) {
        const decision = decisions[credential.who]
        const expected = spelling.refused ?? (decision === 'done' ? verb.done : decision)
        const { status, text } = await clients
          .get(credential.certificate ?? '')!
          .send(`${spelling.spell(verb.path)}${verb.query === undefined ? '' : `?${verb.query}`}`, {
            method: verb.method,
            headers: {
              ...(credential.authorization === undefined ? {} : { authorization: credential.authorization }),
              ...(verb.type === undefined ? {} : { 'content-type': verb.type }),
              ...credential.more,
            },
            ...(verb.body === undefined ? {} : { body: verb.body }),
          })
        const caseName = `${credential.name}, ${verb.verb}, ${spelling.name}`
        if (status !== expected) faults.push(`${caseName}: ${status}, not ${expected}: ${text.slice(0, 200)}`)
        if (status >= 400 && text.includes(hidden)) faults.push(`${caseName}: was shown the secret`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults`)
    assert.equal(await stateOf(server), before, 'something was changed')
    await assertAlive()
  })
}

async function stateOf(server: Restartable): Promise<string> {
  const client = server.client()
  return (await client.get('/api/v1/secrets')).text + (await client.get('/api/v1/namespaces')).text
}

/** Returns a client for each certificate. The key '' represents no certificate. */
async function clientsOf(server: Restartable): Promise<Map<string, HttpClient>> {
  const usages = ['client auth'] as const
  const issuer = asIssuer(pairOf(server, 'ca'))
  const pairs = {
    admin: pairOf(server, 'admin'),
    plain: await makeIdentity({ commonName: 'somebody', usages, issuer }),
    alien: await makeIdentity({ commonName: 'somebody', organizations: ['system:masters'], usages }),
  }
  const common = { port: server.port, ca: caOf(server), token: '' }
  const clients = new Map([['', new HttpClient(common)]])
  for (const [title, { certificate: cert, key }] of Object.entries(pairs))
    clients.set(title, new HttpClient({ ...common, cert, key }))
  return clients
}

test('removing or reassigning a static token takes effect after a restart', async (t) => {
  const server = await serve(t)
  const list = async (token: string) => {
    const { status, text } = await server.client(token).get(home)
    return [status, /User \\"([^\\]*)/.exec(text)?.[1]]
  }
  assert.deepEqual(await list('alice-token'), [403, 'alice'])
  await server.stop()
  writeFileSync(join(server.directory, 'tokens.csv'), 'new-token,admin,1,"system:masters"\nalice-token,bob,2\n')
  await server.restart()
  assert.deepEqual(await list('new-token'), [200, undefined])
  assert.deepEqual(await list('admin-token'), [401, undefined])
  assert.deepEqual(await list('bob-token'), [401, undefined])
  assert.deepEqual(await list('alice-token'), [403, 'bob'])
})
