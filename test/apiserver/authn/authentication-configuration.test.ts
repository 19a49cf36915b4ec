/**
 * Tests the `--authentication-config` file: issuers with CEL rules, anonymous access by path, reloads, and invalid
 * files.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import { OpenidProvider } from '../../support/openid-provider.ts'
import { startFailing } from '../../support/start-failing.ts'

const version = '--emulated-version=1.36'
const header = 'apiVersion: apiserver.config.orch.io/v1\nkind: AuthenticationConfiguration\n'

function directoryFor(t: { after(end: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-authn-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

test('the rules of an AuthenticationConfiguration file apply to ID tokens and anonymous requests', {
  timeout: 300_000,
}, async (t) => {
  const provider = await OpenidProvider.start(t)
  const file = join(directoryFor(t), 'authn.yaml')
  const write = (document: object) => {
    writeFileSync(`${file}.new`, JSON.stringify(document))
    renameSync(`${file}.new`, file)
  }
  const issuer = {
    url: 'https://id.example.com/orch',
    discoveryURL: `${provider.issuer}/discovery`,
    certificateAuthority: readFileSync(provider.authority.certificateFile, 'utf8'),
    audiences: ['one', 'two'],
    audienceMatchPolicy: 'MatchAny',
  }
  // The discovery document names the issuer, although the document itself is served at a different address.
  const jwks = `${provider.issuer}/jwks`
  const handle = (path: string) => (path === '/discovery' ? { issuer: issuer.url, jwks_uri: jwks } : undefined)
  provider.answerJson(handle)
  const jwt = (userRule: string) => ({
    issuer,
    claimValidationRules: [
      { claim: 'team', requiredValue: 'red' },
      { expression: 'claims.exp - claims.iat <= 3600', message: 'lives too long' },
    ],
    claimMappings: {
      username: { expression: '"id:" + claims.sub' },
      groups: { expression: 'claims.roles.map(role, "role:" + role)' },
      uid: { claim: 'sub' },
      extra: [{ key: 'example.com/team', valueExpression: 'claims.team' }],
    },
    userValidationRules: [{ expression: userRule, message: 'reserved name' }],
  })
  const document = (userRule: string, more: object = {}) => ({
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [jwt(userRule)],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    ...more,
  })
  write(document('!user.username.startsWith("id:system:")'))
  const server = await serve(t, [version, `--authentication-config=${file}`])
  const now = Math.floor(Date.now() / 1000)
  const good = { iss: issuer.url, aud: 'two', sub: 'jane', team: 'red', roles: ['a', 'b'], iat: now, exp: now + 600 }
  const userWith = async (claims: object) => authenticatedUser(server, { token: await provider.sign(claims) })

  await t.test('an AuthenticationConfiguration maps valid claims to a user', async () => {
    const user = await until(
      () => userWith(good),
      ({ status }) => status !== 401,
    )
    assert.equal(user.user, 'id:jane')
    assert.deepEqual(user.groups, ['role:a', 'role:b', 'system:authenticated'])
    assert.deepEqual(user.extra, { 'example.com/team': ['red'] })
  })

  await t.test('an AuthenticationConfiguration rejects claims and users that violate a validation rule', async () => {
    const rows: { readonly [name: string]: object } = {
      'another value of a required claim': { team: 'blue' },
      'an expression that is false': { exp: now + 7200 },
      'a user that breaks a rule': { sub: 'system:admin' },
      'another audience': { aud: 'three' },
      'a claim that an expression needs': { roles: undefined },
      'a group that is no text': { roles: [5] },
    }
    for (const [name, claims] of Object.entries(rows))
      assert.equal((await userWith({ ...good, ...claims })).status, 401, name)
  })

  await t.test('an AuthenticationConfiguration allows anonymous requests only on the configured paths', async () => {
    const nobody = server.client('')
    assert.equal((await nobody.get('/livez')).status, 200)
    assert.equal((await nobody.get('/readyz')).status, 401)
  })

  const reloads = async (status: string) => {
    const { text } = await server.client().get('/metrics')
    const name = 'apiserver_authentication_config_controller_automatic_reloads_total'
    return Number(new RegExp(`^${name}\\{status="${status}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }

  await t.test(
    'an invalid AuthenticationConfiguration file is logged and counted, and the previous configuration stays in use',
    async () => {
      write(document('user.name == ""'))
      await until(
        () => reloads('failure'),
        (count) => count > 0,
      )
      assert.match(
        server.output(),
        /authn\.yaml:1:\d+: jwt\[0\]\.userValidationRules\[0\]\.expression: compilation failed/,
      )
      assert.equal((await userWith(good)).status, 201)
    },
  )

  await t.test('a changed AuthenticationConfiguration file takes effect', async () => {
    write(document('user.username != "id:jane"', { anonymous: undefined }))
    await until(
      async () => (await userWith(good)).status,
      (status) => status === 401,
    )
    assert.equal(await reloads('success'), 1)
    assert.equal((await server.client('').get('/readyz')).status, 200)
    assert.equal((await userWith({ ...good, sub: 'joe' })).status, 201)
  })
})

const jwt = `jwt:
- issuer: {url: https://a.example.com, audiences: [a]}
  claimMappings:
    username: {claim: sub, prefix: ""}
`

test('an invalid AuthenticationConfiguration prevents startup, and the error contains the line and the column', async (t) => {
  const file = join(directoryFor(t), 'authn.yaml')
  const rows: readonly (readonly [string, RegExp, ...string[]])[] = [
    ['kind: Other\n', /must be of kind AuthenticationConfiguration in apiserver\.config\.orch\.io\/v1 or/],
    [`${header}jwt: [\n`, /authn\.yaml: .*line \d/],
    [`${header}jwtt: []\n`, /authn\.yaml:3:1: unknown field "jwtt"/],
    [`${header}${jwt.replace('https', 'http')}`, /authn\.yaml:4:12: jwt\[0\]\.issuer\.url: must be an https URL/],
    [`${header}${jwt.replace('[a]', '[a, b]')}`, /audienceMatchPolicy: must be MatchAny/],
    [`${header}${jwt.replace(', prefix: ""', '')}`, /:6:\d+: .*username\.prefix: is required with claim/],
    [`${header}${jwt}${jwt.slice(5)}`, /authn\.yaml:7:12: jwt\[1\]\.issuer\.url: is a duplicate/],
    [`${header}${jwt}    uid: {claim: a, expression: b}\n`, /uid: claim and expression cannot both be set/],
    [`${header}${jwt}    uid: {expression: claims.}\n`, /authn\.yaml:7:11: .*uid\.expression: compilation failed/],
    [`${header}${jwt}    uid: {expression: "1"}\n`, /uid\.expression: must return string or dyn, not int/],
    [
      `${header}${jwt}    extra: [{key: team.orch.io/x, valueExpression: claims.x}]\n`,
      /must not use the reserved domain team\.orch\.io/,
    ],
    [
      `${header}${jwt.replace('{claim: sub, prefix: ""}', '{expression: claims.email}')}`,
      /must use claims\.email_verified/,
    ],
    [`${header}${jwt}`, /must not be an issuer of service account/, '--service-account-issuer=https://a.example.com'],
    [`${header}anonymous: {enabled: true}\n`, /--anonymous-auth and the field anonymous/, '--anonymous-auth=true'],
    [
      `${header}${jwt}`,
      /--oidc flags are mutually exclusive/,
      '--oidc-issuer-url=https://b.example.com',
      '--oidc-client-id=b',
    ],
    [`${header}${jwt}`, /must be of kind .* in apiserver\.config\.orch\.io\/v1beta1 or/, '--emulated-version=1.33'],
    [`${header}${jwt}`, /requires the feature gate StructuredAuthentication/, '--emulated-version=1.28'],
  ]
  for (const [text, error, ...flags] of rows) {
    writeFileSync(file, text)
    const versions = flags.some((flag) => flag.startsWith('--emulated')) ? [] : [version]
    const { errors } = await startFailing(t, [...versions, `--authentication-config=${file}`, ...flags])
    assert.match(errors, error)
  }
})
