/**
 * Tests OpenID Connect with a real provider over TLS: ID tokens of logged-in users, invalid tokens that are signed with
 * the provider's key, key rotation and an unavailable provider.
 */
import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { exportJWK } from 'jose'
import { type AuthenticatedUser, agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import { longTest, someOf } from '../../support/long.ts'
import { clientId, makeKey, OpenidProvider } from '../../support/openid-provider.ts'
import type { Served } from '../../support/server.ts'
import { startFailing } from '../../support/start-failing.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const flagsOf = (provider: OpenidProvider, ...more: readonly string[]) => [
  `--oidc-issuer-url=${provider.issuer}`,
  `--oidc-client-id=${clientId}`,
  `--oidc-ca-file=${provider.authority.certificateFile}`,
  ...more,
]

const jane = {
  sub: 'jane',
  email: 'jane@example.com',
  email_verified: true,
  groups: ['dev', 'qa'],
  team: 'red',
  hd: 'x',
}

/** Waits until the server accepts the token. The provider is contacted in the background, so early tokens may fail. */
async function known(server: Served, token: string): Promise<AuthenticatedUser> {
  return await until(
    () => authenticatedUser(server, { token }),
    ({ status }) => status !== 401,
  )
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}

test('a valid ID token authenticates the user', { timeout: 300_000 }, async (t) => {
  const provider = await OpenidProvider.start(t)
  const server = await serve(
    t,
    flagsOf(
      provider,
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=oidc:',
      '--oidc-required-claim=team=red',
      '--oidc-required-claim=hd=x',
    ),
  )
  const assertAlive = survivalCheck(server)
  const agent = agentOf(server)
  t.after(() => agent.destroy())
  const token = await provider.login(jane)
  const tokens = [token]

  await t.test('a user with a valid ID token is authenticated without further requests to the provider', async () => {
    const identity = await known(server, token)
    assert.equal(identity.user, `${provider.issuer}#jane`)
    assert.deepEqual(identity.groups, ['oidc:dev', 'oidc:qa', 'system:authenticated'])
    const before = provider.paths.length
    for (let i = 0; i < 5; i++) assert.equal((await authenticatedUser(server, { token })).status, 201)
    assert.deepEqual(provider.paths.slice(before), [])
  })

  const good = { iss: provider.issuer, aud: clientId, sub: 'jane', team: 'red', hd: 'x', iat: now(), exp: now() + 600 }
  const without = (claim: string) => Object.fromEntries(Object.entries(good).filter(([name]) => name !== claim))

  await t.test('ID tokens with invalid claims are rejected', async () => {
    const user = `${provider.issuer}#jane`
    const rows: { readonly [name: string]: readonly [object, string | undefined] } = {
      'a valid token': [good, user],
      'several audiences': [{ ...good, aud: ['other', clientId] }, user],
      'another audience': [{ ...good, aud: 'other' }, undefined],
      'other audiences': [{ ...good, aud: ['other', `${clientId}2`] }, undefined],
      'a substring of the audience': [{ ...good, aud: clientId.slice(1) }, undefined],
      'no audience': [without('aud'), undefined],
      'an audience that is an object': [{ ...good, aud: { [clientId]: true } }, undefined],
      'expired a second ago': [{ ...good, exp: now() - 1 }, undefined],
      'no expiry': [without('exp'), undefined],
      'an expiry that is a string': [{ ...good, exp: String(now() + 600) }, undefined],
      'an expiry of 1e99': [{ ...good, exp: 1e99 }, undefined],
      'a negative expiry': [{ ...good, exp: -5 }, undefined],
      'a fractional expiry': [{ ...good, exp: now() + 600.5 }, user],
      'no issue time': [without('iat'), undefined],
      'issued in the future': [{ ...good, iat: now() + 300 }, undefined],
      'issued in the future, within the allowed clock skew': [{ ...good, iat: now() + 30 }, user],
      'an issue time that is a string': [{ ...good, iat: 'yesterday' }, undefined],
      'not yet valid': [{ ...good, nbf: now() + 300 }, undefined],
      'not yet valid, within the allowed clock skew': [{ ...good, nbf: now() + 30 }, user],
      'a not-before time that is a string': [{ ...good, nbf: 'x' }, undefined],
      'another issuer': [{ ...good, iss: 'https://127.0.0.1' }, undefined],
      'the issuer with a trailing slash': [{ ...good, iss: `${provider.issuer}/` }, undefined],
      'the issuer in capitals': [{ ...good, iss: provider.issuer.toUpperCase() }, undefined],
      'no issuer': [without('iss'), undefined],
      'no name': [without('sub'), undefined],
      'an empty name': [{ ...good, sub: '' }, undefined],
      'a name that is a number': [{ ...good, sub: 7 }, undefined],
      'a required claim that is missing': [without('hd'), undefined],
      'a required claim that differs': [{ ...good, team: 'blue' }, undefined],
      'a required claim in a list': [{ ...good, team: ['red'] }, undefined],
      'groups that are a number': [{ ...good, groups: 5 }, undefined],
      'groups that are not all strings': [{ ...good, groups: ['a', 5] }, undefined],
      'groups that are an object': [{ ...good, groups: { a: true } }, undefined],
      'groups that are null': [{ ...good, groups: null }, user],
    }
    for (const [name, [claims, expected]] of Object.entries(rows)) {
      const signed = await provider.sign(claims)
      tokens.push(signed)
      const identity = await authenticatedUser(server, { agent, token: signed })
      assert.deepEqual(
        [identity.status, identity.user],
        expected === undefined ? [401, undefined] : [201, expected],
        name,
      )
    }
    const one = await authenticatedUser(server, { token: await provider.sign({ ...good, groups: 'dev' }) })
    assert.deepEqual(one.groups, ['oidc:dev', 'system:authenticated'])
    const masters = await authenticatedUser(server, {
      token: await provider.sign({ ...good, groups: ['system:masters'] }),
    })
    assert.deepEqual(masters.groups, ['oidc:system:masters', 'system:authenticated'])
  })

  await t.test('ID tokens that were modified or signed with another key are rejected', async () => {
    const forged = await forgeries(provider, good)
    assert.ok(forged.length >= 200, String(forged.length))
    for (const [name, text] of forged) {
      const identity = await authenticatedUser(server, { agent, token: text })
      assert.equal(identity.status, 401, `${name}: ${identity.text}`)
    }
    await assertAlive()
    // Tokens with unknown keys cause requests to the provider, but only at a limited rate.
    assert.ok(provider.paths.filter((path) => path.endsWith('/jwks')).length < 20)
  })

  await t.test('a TokenReview states why an ID token is invalid', async () => {
    const review = async (text: string) =>
      (
        await server.client().post('/apis/authentication.orch.io/v1/tokenreviews', {
          apiVersion: 'authentication.orch.io/v1',
          kind: 'TokenReview',
          spec: { token: text },
        })
      ).body.status
    assert.match((await review(await provider.sign({ ...good, exp: now() - 1 }))).error, /it has expired/)
    assert.equal((await review(token)).user.username, `${provider.issuer}#jane`)
  })

  await t.test('new OIDC provider keys are fetched on first use, and removed keys are dropped', async () => {
    const old = await provider.sign({ ...good, sub: 'old' })
    assert.equal((await authenticatedUser(server, { token: old })).user, `${provider.issuer}#old`)
    provider.rotate()
    const fresh = await provider.login({ ...jane, sub: 'fresh' })
    assert.equal((await known(server, fresh)).user, `${provider.issuer}#fresh`)
    await until(
      () => authenticatedUser(server, { token: old }),
      ({ status }) => status === 401,
      20_000,
    )
    assert.equal((await authenticatedUser(server, { token: fresh })).status, 201)
  })

  await t.test('known keys remain valid while the OIDC provider is unavailable or faulty', async () => {
    const answers: { readonly [name: string]: NonNullable<OpenidProvider['instead']> } = {
      'an error': (_, response) => response.writeHead(500).end(),
      'another issuer': (_, response) =>
        response.end(JSON.stringify({ issuer: 'x', jwks_uri: `${provider.issuer}/jwks` })),
      'no JSON': (_, response) => response.end('canary-document'),
      'more than the size limit': (_, response) => response.end(`"${'x'.repeat(2_000_000)}"`),
      'no keys': ({ url }, response) =>
        response.end(
          JSON.stringify(
            url?.endsWith('/keys')
              ? { keys: 'none' }
              : { issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys` },
          ),
        ),
      'a redirect': (_, response) => response.writeHead(302, { location: `${provider.issuer}/canary` }).end(),
    }
    const stranger = await provider.sign(good, {}, makeKey('RS256'))
    for (const [name, instead] of Object.entries(answers)) {
      provider.instead = instead
      const before = provider.paths.length
      const wrong = async () => {
        assert.equal((await authenticatedUser(server, { agent, token: stranger })).status, 401, name)
        return provider.paths.length
      }
      await until(wrong, (count) => count > before)
      assert.equal(
        (await authenticatedUser(server, { token: await provider.sign({ ...good, sub: name }) })).status,
        201,
        name,
      )
    }
    assert.ok(!provider.paths.includes('/canary'), 'a redirect is not followed')
    provider.instead = undefined
    await provider.stop()
    assert.equal(
      (await authenticatedUser(server, { token: await provider.sign({ ...good, sub: 'alone' }) })).status,
      201,
    )
    await provider.listen(provider.port)
  })

  const seen = `${server.output()}${(await server.client().get('/metrics')).text}`
  for (const each of tokens)
    assert.ok(!seen.includes(each) && !seen.includes(each.split('.')[2]!), 'a token is in the log')
  assert.ok(!seen.includes('canary'))
})

/** Returns invalid tokens with descriptions. */
async function forgeries(provider: OpenidProvider, good: object): Promise<(readonly [string, string])[]> {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = await provider.sign(good)
  const [head, body, signature] = token.split('.') as [string, string, string]
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
  const own = provider.keys[0]!
  const publicPem = createPublicKey({ key: own as never, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString()
  const hmac = (header: object, secret: string) => {
    const text = `${part(header)}.${body}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const stranger = makeKey('RS256')
  const elliptic = makeKey('ES256')
  const { d: _, ...strangerPublic } = await exportJWK(createPublicKey({ key: stranger as never, format: 'jwk' }))
  const double = `{"sub":"jane","sub":"root",${JSON.stringify(good).slice(1)}`
  const found: (readonly [string, string])[] = [
    ['no algorithm', `${part({ alg: 'none' })}.${body}.`],
    ['no algorithm, in capitals', `${part({ alg: 'NONE', kid })}.${body}.${signature}`],
    ['HS256 with the public key', hmac({ alg: 'HS256', kid }, publicPem)],
    ['HS256 with the modulus', hmac({ alg: 'HS256', kid }, own.n!)],
    ['HS256 with nothing', hmac({ alg: 'HS256', kid }, '\0')],
    ['an algorithm that is not allowed', await provider.sign(good, { kid }, { ...own, alg: 'RS512' })],
    ['another key', await provider.sign(good, {}, stranger)],
    ['another key with the same ID', await provider.sign(good, { kid }, stranger)],
    ['another key without an ID', await provider.sign(good, {}, { ...stranger, kid: undefined as never })],
    ['a key embedded in the token', await provider.sign(good, { kid, jwk: strangerPublic }, stranger)],
    [
      'a key that the token links to',
      await provider.sign(good, { jku: `${provider.issuer}/x`, x5u: 'https://x' }, stranger),
    ],
    ['a path for a key', await provider.sign(good, { kid: '../../../../dev/null' })],
    ['a kid that is a list', `${part({ alg: 'RS256', kid: [kid] })}.${body}.${signature}`],
    ['ES256 with nothing in it', `${part({ alg: 'ES256', kid })}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['ES256 of a stranger', await provider.sign(good, { kid }, elliptic)],
    ['an unknown critical header', `${part({ alg: 'RS256', kid, crit: ['x'], x: 1 })}.${body}.${signature}`],
    ['claims twice', await signText(provider, double)],
    ['no claims', await signText(provider, `["${provider.issuer}"]`)],
    ['no signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['four parts', `${token}.x`],
    ['five parts', `${token}.x.y`],
    ['another payload', `${head}.${part({ ...good, sub: 'root' })}.${signature}`],
    ['another header', `${part({ alg: 'RS256', kid, typ: 'x' })}.${body}.${signature}`],
    ['padded', `${token}=`],
    ['an extra leading segment', `x${token}`],
  ]
  // Change one character. Skip the last character of each part, because it has unused bits.
  for (let i = 0; found.length < 230; i++) {
    const at = (i * 37) % (token.length - 2)
    const was = token[at]!
    const next = token[at + 1]!
    if (was === '.' || next === '.') continue
    found.push([`changed at ${at}`, `${token.slice(0, at)}${was === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`])
  }
  return found
}

/** Returns a token that has this text as its claims and is signed with the provider's key. */
async function signText(provider: OpenidProvider, text: string): Promise<string> {
  const { CompactSign, importJWK } = await import('jose')
  const key = provider.keys[0]!
  const signing = new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'RS256', kid: key.kid! })
  return await signing.sign(await importJWK(key, 'RS256'))
}

test('the user name is derived from the configured ID token claim and prefix', { timeout: 300_000 }, async (t) => {
  const provider = await OpenidProvider.start(t, ['RS256', 'ES256'])
  const token = await provider.login(jane)
  const rows: readonly (readonly [readonly string[], string])[] = [
    [['--oidc-username-claim=email'], 'jane@example.com'],
    [['--oidc-username-claim=email', '--oidc-username-prefix=o:'], 'o:jane@example.com'],
    [['--oidc-username-prefix=-'], 'jane'],
    [['--oidc-username-claim=team', '--oidc-required-claim=team=red,hd=x'], `${provider.issuer}#red`],
  ]
  for (const [flags, user] of someOf(rows, 2)) {
    await t.test(flags.join(' '), async (inner) => {
      const server = await serve(inner, flagsOf(provider, ...flags, '--oidc-signing-algs=ES256,RS256'))
      const identity = await known(server, token)
      assert.deepEqual([identity.user, identity.groups], [user, ['system:authenticated']])
      const good = { iss: provider.issuer, aud: clientId, ...jane, iat: now(), exp: now() + 600 }
      const elliptic = await provider.sign(good, {}, provider.keys[1])
      assert.equal((await authenticatedUser(server, { token: elliptic })).user, user)
      if (!flags[0]!.endsWith('email')) return
      for (const verified of [false, 'true', null]) {
        const other = await provider.sign({ ...good, email_verified: verified })
        assert.equal((await authenticatedUser(server, { token: other })).status, 401, String(verified))
      }
      const { email_verified: _, ...unsaid } = good
      assert.equal((await authenticatedUser(server, { token: await provider.sign(unsaid) })).user, user)
      // Any matching key may verify a token that has no key ID.
      const nameless = await provider.sign(good, { kid: undefined })
      assert.equal((await authenticatedUser(server, { token: nameless })).user, user)
    })
  }
})

longTest(
  'the OIDC provider may start after the server, and its CA may be replaced',
  {
    timeout: 300_000,
  },
  async (t) => {
    const provider = await OpenidProvider.start(t)
    const token = await provider.login(jane)
    const { certificateFile, certificate } = provider.authority
    const other = await OpenidProvider.start(t)
    const put = (pem: string) => {
      writeFileSync(`${certificateFile}.new`, pem)
      renameSync(`${certificateFile}.new`, certificateFile)
    }
    put(other.authority.certificate)
    const server = await serve(t, flagsOf(provider))
    assert.equal((await authenticatedUser(server, { token })).status, 401)
    assert.match(server.output(), /cannot reach the OpenID Connect provider/)
    put(certificate)
    assert.equal(
      (
        await until(
          () => authenticatedUser(server, { token }),
          ({ status }) => status === 201,
          30_000,
        )
      ).status,
      201,
    )
  },
)

test('conflicting OIDC flags are rejected', { timeout: 300_000 }, async (t) => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['--oidc-issuer-url=http://id.example.com', '--oidc-client-id=x'], /--oidc-issuer-url: .* is not an issuer URL/],
    [['--oidc-issuer-url=id.example.com', '--oidc-client-id=x'], /--oidc-issuer-url: .* is not an issuer URL/],
    [['--oidc-issuer-url=https://id.example.com'], /--oidc-issuer-url requires --oidc-client-id/],
    [['--oidc-client-id=x'], /--oidc-client-id requires --oidc-issuer-url/],
    [['--oidc-groups-claim=x'], /--oidc-groups-claim requires --oidc-issuer-url/],
    [['--oidc-required-claim=x'], /--oidc-required-claim: "x" must have the form CLAIM=VALUE/],
    [['--oidc-signing-algs=HS256'], /--oidc-signing-algs: "HS256" is not one of RS256/],
    [['--oidc-signing-algs=none'], /--oidc-signing-algs: "none" is not one of RS256/],
    [
      ['--oidc-issuer-url=https://id.example.com', '--oidc-client-id=x', '--oidc-ca-file=/nowhere'],
      /--oidc-ca-file: cannot read/,
    ],
  ]
  for (const [flags, fault] of rows) {
    const { code, errors } = await startFailing(t, flags)
    assert.equal(code, 1)
    assert.match(errors, fault)
  }
})
