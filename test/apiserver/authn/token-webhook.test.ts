/** Tests the token webhook with a real HTTPS service that requires a client certificate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'
import { type Answer, says, TokenService } from '../../support/token-service.ts'

const jane = {
  username: 'jane',
  uid: '42',
  groups: ['dev', 'qa'],
  extra: { 'acme.com/team': ['a', 'b'], __proto: ['x'] },
}
const canary = 'canary-token-5c1d'

test('a token webhook authenticates users', { timeout: 300_000 }, async (t) => {
  const service = await TokenService.start(t)
  const flag = service.config(service.make({ subject: '/CN=orch', issuer: service.authority }))
  const server = await serve(t, [flag])

  await t.test('the token webhook is called once per token, with the audience and a client certificate', async () => {
    service.answers.set('jane-token', says({ authenticated: true, user: jane }))
    for (let i = 0; i < 3; i++) {
      const told = await authenticatedUser(server, { token: 'jane-token' })
      assert.deepEqual(
        [told.status, told.user, told.groups, told.extra],
        [201, 'jane', ['dev', 'qa', 'system:authenticated'], jane.extra],
      )
    }
    assert.deepEqual(service.asked, [
      {
        review: {
          apiVersion: 'authentication.orch.io/v1beta1',
          kind: 'TokenReview',
          metadata: {},
          spec: { token: 'jane-token', audiences: ['https://orch.default.svc'] },
        },
        by: 'CN=orch',
        path: '/authenticate?a=b',
      },
    ])
  })

  await t.test('a call to the token webhook carries the trace context of the request', async () => {
    const traces: unknown[] = []
    service.answers.set('traced-token', (review, response) => {
      traces.push(response.req.headers.traceparent, response.req.headers.tracestate)
      says({ authenticated: true, user: jane })(review, response)
    })
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', tracestate: 'a=b' }
    assert.equal((await server.client('traced-token').get('/version', trace)).status, 200)
    assert.deepEqual(traces, [trace.traceparent, trace.tracestate])
  })

  await t.test('concurrent requests with the same token share one webhook call', async () => {
    service.answers.set('slow-token', (review, response) =>
      setTimeout(() => says({ authenticated: true, user: { username: 'slow' } })(review, response), 300),
    )
    const told = await Promise.all(Array.from({ length: 20 }, () => authenticatedUser(server, { token: 'slow-token' })))
    assert.ok(told.every(({ user }) => user === 'slow'))
    assert.equal(service.countOf('slow-token'), 1)
  })

  await t.test(
    'the rejection of a token by the webhook is cached, and static tokens are not sent to the webhook',
    async () => {
      for (let i = 0; i < 2; i++)
        assert.equal((await authenticatedUser(server, { token: 'unknown-token' })).status, 401)
      assert.equal(service.countOf('unknown-token'), 1)
      assert.equal((await authenticatedUser(server, { token: 'bob-token' })).user, 'bob')
      assert.equal((await authenticatedUser(server, {})).status, 403)
      assert.equal(service.countOf('bob-token'), 0)
    },
  )

  await t.test('the audiences in a token webhook response must include an audience of the server', async () => {
    const user = { username: 'jane' }
    const own = 'https://orch.default.svc'
    const rows: readonly (readonly [string[] | undefined, number])[] = [
      [undefined, 201],
      [[], 201],
      [[own], 201],
      [['other', own], 201],
      [['other'], 401],
    ]
    for (const [i, [audiences, status]] of rows.entries()) {
      service.answers.set(`audience-${i}`, says({ authenticated: true, user, audiences }))
      assert.equal((await authenticatedUser(server, { token: `audience-${i}` })).status, status, String(audiences))
    }
  })

  await t.test('an invalid response from the token webhook causes a 401, which is not cached', async () => {
    const yes = { authenticated: true, user: { username: 'jane' } }
    const bad: { readonly [name: string]: Answer } = {
      'another version': says(yes, { apiVersion: 'authentication.orch.io/v1' }),
      'another kind': says(yes, { kind: 'SubjectAccessReview' }),
      'no status': (review, response) => response.end(JSON.stringify({ ...review })),
      'no user': says({ authenticated: true }),
      'no name': says({ authenticated: true, user: { groups: ['a'] } }),
      'an empty name': says({ authenticated: true, user: { username: '' } }),
      'a user name that is not a string': says({ authenticated: true, user: { username: 5 } }),
      'groups that are not a list': says({ authenticated: true, user: { username: 'a', groups: 'system:masters' } }),
      'extra that is not an object': says({ authenticated: true, user: { username: 'a', extra: ['b'] } }),
      'extra whose values are not lists': says({ authenticated: true, user: { username: 'a', extra: { b: 'c' } } }),
      'a name that is too long': says({ authenticated: true, user: { username: 'x'.repeat(900_000) } }),
      'a uid that is too long': says({ authenticated: true, user: { username: 'a', uid: 'x'.repeat(900_000) } }),
      'groups that are too long': says({
        authenticated: true,
        user: { username: 'a', groups: Array.from({ length: 100 }, () => 'x'.repeat(4000)) },
      }),
      'extra that is too long': says({
        authenticated: true,
        user: { username: 'a', extra: { b: ['x'.repeat(900_000)] } },
      }),
      'authenticated as a string': says({ ...yes, authenticated: 'true' }),
      'a body that is not JSON': (_, response) => response.end(canary),
      'a 500': (_, response) => response.writeHead(500).end('{}'),
      'a redirect': (_, response) => response.writeHead(307, { location: `https://127.0.0.1:${service.port}/` }).end(),
      'more than the size limit': (_, response) => response.end(`"${'x'.repeat(2_000_000)}"`),
      'a broken connection': (_, response) => response.destroy(),
    }
    for (const [name, answer] of Object.entries(bad)) {
      const token = `bad ${name}`.replaceAll(' ', '-')
      service.answers.set(token, answer)
      assert.equal((await authenticatedUser(server, { token })).status, 401, name)
      service.answers.set(token, says(yes))
      const remembered = name === 'authenticated as a string'
      assert.equal((await authenticatedUser(server, { token })).status, remembered ? 401 : 201, name)
    }
    assert.equal(service.countOf('bad-a-broken-connection'), 3, 'it is tried once more')
    assert.equal(service.countOf('bad-a-redirect'), 2, 'a redirect is not followed')
  })

  await t.test('a 403 response truncates a long user name', async () => {
    service.answers.set('long-token', says({ authenticated: true, user: { username: 'n'.repeat(4000) } }))
    const client = server.client('long-token')
    const long = 'p'.repeat(50_000)
    for (const path of ['/api/v1/nodes', `/api/v1/nodes/${long}`, `/metrics/${long}`]) {
      const { status, text } = await client.get(path)
      assert.equal(status, 403)
      assert.match(text, /User \\"n{256}\\" cannot/)
      assert.ok(text.length < 4000, `${text.length} characters`)
    }
  })

  await t.test('a TokenReview reports the error from the token webhook', async () => {
    service.answers.set('expired-token', says({ authenticated: false, error: 'it has expired' }))
    const review = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenReview', spec: { token: 'jane-token' } }
    const { body } = await server.client().post('/apis/authentication.orch.io/v1/tokenreviews', review)
    assert.equal(body.status.user.username, 'jane')
    assert.equal((await authenticatedUser(server, { token: 'expired-token' })).status, 401)
    const told = await server.client().post('/apis/authentication.orch.io/v1/tokenreviews', {
      ...review,
      spec: { token: 'expired-token', audiences: ['other'] },
    })
    assert.match(told.body.status.error, /it has expired/)
    assert.deepEqual(service.asked.at(-1)!.review.spec.audiences, ['other'])
    service.answers.set('unchecked-token', (_, response) => response.writeHead(500).end('{}'))
    const unchecked = await server.client().post('/apis/authentication.orch.io/v1/tokenreviews', {
      ...review,
      spec: { token: 'unchecked-token' },
    })
    // Invalid tokens and tokens that could not be verified have different errors.
    assert.match(unchecked.body.status.error, /the token webhook failed, so the token could not be checked/)
    assert.deepEqual([unchecked.status, unchecked.body.status.authenticated], [201, undefined])
  })

  await t.test('a new certificate or CA for the token webhook takes effect, and an invalid file does not', async () => {
    service.config(service.make({ subject: '/CN=renewed', issuer: service.authority }))
    let count = 0
    const askAgain = async () => {
      await authenticatedUser(server, { token: `again-${count++}` })
      return service.asked.at(-1)!.by
    }
    await until(askAgain, (by) => by === 'CN=renewed')
    service.config(service.make({ subject: '/CN=x', issuer: service.authority }), (text) =>
      text.replace('https:', 'http:'),
    )
    await until(
      async () => server.output(),
      (log) => /--authentication-token-webhook-config-file: .*https:/.test(log),
    )
    assert.equal(await askAgain(), 'CN=renewed')
  })

  await t.test(
    'while the token webhook is unavailable, tokens that only the webhook can verify are rejected',
    async () => {
      const agent = agentOf(server)
      t.after(() => agent.destroy())
      const gone = service.make({ subject: '/CN=gone', issuer: service.authority })
      service.config(gone, (text) => text.replace(`:${service.port}`, ':1'))
      await until(
        () => authenticatedUser(server, { agent, token: `${canary}-${Math.random()}` }),
        () => /CN=gone|ECONNREFUSED/.test(server.output()),
      )
      assert.equal((await authenticatedUser(server, { agent, token: canary })).status, 401)
      assert.equal((await authenticatedUser(server, { agent, token: 'bob-token' })).user, 'bob')
      assert.equal(
        (await authenticatedUser(server, { agent, token: 'jane-token' })).user,
        'jane',
        'what is remembered still counts',
      )
    },
  )

  const seen = `${server.output()}${(await server.client().get('/metrics')).text}`
  for (const { review } of service.asked) assert.ok(!seen.includes(review.spec.token), 'a token is in the log')
  assert.ok(!seen.includes(canary))
})

test('a v1 token webhook works without caching, and a call to a webhook that does not respond times out', {
  timeout: 300_000,
}, async (t) => {
  const service = await TokenService.start(t)
  const flag = service.config(service.make({ subject: '/CN=orch', issuer: service.authority }))
  const server = await serve(t, [
    flag,
    '--authentication-token-webhook-version=v1',
    '--authentication-token-webhook-cache-ttl=0s',
  ])
  service.answers.set('jane-token', says({ authenticated: true, user: { username: 'jane' } }))
  for (let i = 0; i < 3; i++) assert.equal((await authenticatedUser(server, { token: 'jane-token' })).user, 'jane')
  assert.equal(service.countOf('jane-token'), 3)
  assert.ok(service.asked.every(({ review }) => review.apiVersion === 'authentication.orch.io/v1'))
  // The webhook never responds. The server times out and serves other requests in the meantime.
  service.answers.set('silent-token', () => {})
  const silent = authenticatedUser(server, { token: 'silent-token' })
  assert.equal((await authenticatedUser(server, { token: 'bob-token' })).user, 'bob')
  assert.equal((await silent).status, 401)
  assert.equal(service.countOf('silent-token'), 1, 'who takes too long is not asked again')
})

test('the server does not start with an invalid token webhook configuration', { timeout: 300_000 }, async (t) => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--authentication-token-webhook-config-file=/nowhere'],
      /--authentication-token-webhook-config-file: .*\/nowhere/,
    ],
    [['--authentication-token-webhook-version=v2'], /--authentication-token-webhook-version: "v2" is not one of v1/],
    [['--authentication-token-webhook-cache-ttl=2'], /--authentication-token-webhook-cache-ttl: "2" is not a duration/],
  ]
  for (const [flags, fault] of rows) {
    const { code, errors } = await startFailing(t, flags)
    assert.equal(code, 1)
    assert.match(errors, fault)
  }
})
