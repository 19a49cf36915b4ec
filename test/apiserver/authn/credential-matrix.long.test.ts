/**
 * Tests combinations of all credentials and header formats on one server with all strategies and real backends. The
 * tables contain the expected results of the individual parts, and `expected` combines them.
 */
import assert from 'node:assert/strict'
import type { Agent } from 'node:https'
import { type TestContext, test } from 'node:test'
import type { CertifiedKey } from '../../../src/api/pki/authority.ts'
import { temporaryDirectory } from '../../api/pki/openssl.ts'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { asIssuer, makeIdentity } from '../../support/identities.ts'
import { serve } from '../../support/in-process.ts'
import { clientId, OpenidProvider } from '../../support/openid-provider.ts'
import { authorityExtensions, certificatesIn, serverExtensions } from '../../support/openssl-certificates.ts'
import type { Served } from '../../support/server.ts'
import { says, TokenService } from '../../support/token-service.ts'

/**
 * The user of each certificate. Undefined means that no certificate is sent, and 'refused' means that the certificate
 * is invalid.
 */
const certificates = {
  none: undefined,
  'of a client': 'carl',
  'of a client, issued by an intermediate CA': 'carla',
  'of a client, expired': 'refused',
  'of a client, for servers': 'refused',
  'from an unknown CA': 'refused',
  'of a client, denied': 'refused',
  'of a proxy': 'said-by-proxy',
  'of a proxy that is not allowed': 'refused',
} as const

/** The user of each token. 'refused' means that the token is invalid. */
const tokens = {
  static: 'bob',
  'accepted by the webhook': 'wendy',
  'an ID token': 'olga',
  'an ID token, expired': 'refused',
  'an ID token for another audience': 'refused',
  'of a service account': 'system:serviceaccount:default:default',
  'of a service account, changed': 'refused',
  bootstrap: 'system:bootstrap:abcdef',
  'bootstrap with a wrong secret': 'refused',
  unknown: 'refused',
  __proto__x: 'refused',
} as const

/**
 * How the server interprets each header format: as the token, an unknown token, no token, or an error because the
 * header is duplicated. In a format, * stands for the token.
 */
const forms: { readonly [form: string]: 'token' | 'wrong' | 'nothing' | 'twice' } = {
  'Bearer *': 'token',
  'bearer *': 'token',
  'BEARER *': 'token',
  'bEaReR *': 'token',
  ' Bearer * ': 'token',
  'Bearer * *': 'token',
  'Bearer * ': 'token',
  'Bearer *, x': 'wrong',
  'Bearer "*"': 'wrong',
  'Bearer *\tx': 'wrong',
  'Bearer \u00e9*': 'wrong',
  'Bearer  *': 'nothing',
  'Bearer\t*': 'nothing',
  'Bearer: *': 'nothing',
  'Bearer=*': 'nothing',
  'Token *': 'nothing',
  'Basic *': 'nothing',
  'Digest username="*"': 'nothing',
  '*': 'nothing',
  Bearer: 'nothing',
  '': 'nothing',
  'Bearer *|Bearer *': 'twice',
  'Bearer *|Basic x': 'twice',
}

/**
 * Certificates that are combined with all header formats. Other certificates are combined with one format of each kind.
 */
const throughAll: readonly Certificate[] = ['none', 'of a client', 'from an unknown CA']
const ofEachSort = ['Bearer *', 'Bearer "*"', 'Bearer  *', 'Basic *', 'Bearer *|Bearer *']

type Certificate = keyof typeof certificates
type Token = keyof typeof tokens

/** Returns the expected status and user. */
function expected(certificate: Certificate, token: Token, form: string): readonly [number, string | undefined] {
  const held = forms[form]!
  if (held === 'twice') return [400, undefined]
  const shown = certificates[certificate]
  // A valid certificate takes precedence over any token. An invalid credential does not affect a valid credential.
  if (shown !== undefined && shown !== 'refused') return [201, shown]
  const owner = held === 'token' ? tokens[token] : held === 'wrong' ? 'refused' : undefined
  if (owner !== undefined && owner !== 'refused') return [201, owner]
  // Invalid credentials never count as anonymous. Anonymous users get 403.
  return [shown === 'refused' || owner === 'refused' ? 401 : 403, undefined]
}

interface World {
  readonly server: Served
  readonly agents: { readonly [C in Certificate]: Agent }
  readonly texts: { readonly [T in Token]: string }
}

async function makeWorld(t: TestContext): Promise<World> {
  const make = certificatesIn(temporaryDirectory(t))
  const [clients, proxies, strangers] = ['clients', 'proxies', 'clients'].map((name) =>
    make({ subject: `/CN=${name}`, extensions: authorityExtensions }),
  )
  const provider = await OpenidProvider.start(t)
  const service = await TokenService.start(t)
  service.answers.set('webhook-token', says({ authenticated: true, user: { username: 'wendy' } }))
  const server = await serve(t, [
    `--client-ca-file=${clients!.certificateFile}`,
    `--requestheader-client-ca-file=${proxies!.certificateFile}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-allowed-names=front-proxy',
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${clientId}`,
    `--oidc-ca-file=${provider.authority.certificateFile}`,
    '--oidc-username-prefix=-',
    service.config(make({ subject: '/CN=orch', issuer: service.authority })),
    '--enable-bootstrap-token-auth',
  ])
  const middle = make({ subject: '/CN=middle', issuer: clients!, extensions: authorityExtensions })
  const carla = make({ subject: '/CN=carla', issuer: middle })
  const denied = make({ subject: '/CN=carl', issuer: clients! })
  const issuer = asIssuer(clients!)
  const pairs: { readonly [C in Certificate]: CertifiedKey | undefined } = {
    none: undefined,
    'of a client': make({ subject: '/CN=carl', issuer: clients! }),
    'of a client, issued by an intermediate CA': { ...carla, certificate: carla.certificate + middle.certificate },
    'of a client, expired': await makeIdentity({ commonName: 'carl', usages: ['client auth'], issuer, to: -1000 }),
    'of a client, for servers': make({ subject: '/CN=carl', issuer: clients!, extensions: serverExtensions }),
    'from an unknown CA': make({ subject: '/CN=carl', issuer: strangers! }),
    'of a client, denied': denied,
    'of a proxy': make({ subject: '/CN=front-proxy', issuer: proxies! }),
    'of a proxy that is not allowed': make({ subject: '/CN=other', issuer: proxies! }),
  }
  await deny(server, denied)
  const agents = Object.fromEntries(Object.entries(pairs).map(([name, pair]) => [name, agentOf(server, pair)]))
  t.after(() => {
    for (const agent of Object.values(agents)) agent.destroy()
  })
  return { server, agents: agents as World['agents'], texts: await tokenTexts(server, provider) }
}

async function deny(server: Served, { certificate }: CertifiedKey): Promise<void> {
  const { X509Certificate } = await import('node:crypto')
  const { status } = await server.client().post('/apis/ops.orch.io/v1/certificatedenylists', {
    apiVersion: 'ops.orch.io/v1',
    kind: 'CertificateDenyList',
    metadata: { name: 'lost' },
    spec: { certificates: [{ fingerprint: new X509Certificate(certificate).fingerprint256 }] },
  })
  assert.equal(status, 201)
}

async function tokenTexts(server: Served, provider: OpenidProvider): Promise<World['texts']> {
  const admin = server.client()
  const secret = await admin.post('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.orch.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
  })
  assert.equal(secret.status, 201, secret.text)
  await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const asked = await admin.post(path, { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: {} })
  assert.equal(asked.status, 201, asked.text)
  const account: string = asked.body.status.token
  const seconds = Math.floor(Date.now() / 1000)
  const claims = { iss: provider.issuer, aud: clientId, sub: 'olga', iat: seconds - 60, exp: seconds + 3600 }
  return {
    static: 'bob-token',
    'accepted by the webhook': 'webhook-token',
    'an ID token': await provider.login({ sub: 'olga' }),
    'an ID token, expired': await provider.sign({ ...claims, exp: seconds - 10 }),
    'an ID token for another audience': await provider.sign({ ...claims, aud: 'another' }),
    'of a service account': account,
    'of a service account, changed': account.replace(/.\.(.)/, (two) =>
      two[0] === 'A' ? `B${two.slice(1)}` : `A${two.slice(1)}`,
    ),
    bootstrap: 'abcdef.0123456789abcdef',
    'bootstrap with a wrong secret': 'abcdef.0123456789abcdeg',
    unknown: 'unknown-token',
    __proto__x: '__proto__',
  }
}

test('every combination of credentials and Authorization headers authenticates as the expected user', {
  timeout: 300_000,
}, async (t) => {
  const { server, agents, texts } = await makeWorld(t)
  await until(
    () => authenticatedUser(server, { token: texts['an ID token'] }),
    ({ user }) => user === 'olga',
  )
  let asked = 0
  for (const certificate of Object.keys(certificates) as Certificate[]) {
    await t.test(`requests with a certificate are authenticated: ${certificate}`, async () => {
      for (const token of Object.keys(tokens) as Token[]) {
        for (const form of throughAll.includes(certificate) ? Object.keys(forms) : ofEachSort) {
          const values = form.split('|').map((each) => each.replaceAll('*', texts[token]))
          const headers = { authorization: values.length === 1 ? values[0]! : values, 'X-Remote-User': 'said-by-proxy' }
          const identity = await authenticatedUser(server, { agent: agents[certificate], headers })
          const row = `${token} as ${JSON.stringify(form)}: ${identity.text}`
          assert.deepEqual([identity.status, identity.user], expected(certificate, token, form), row)
          asked++
        }
      }
    })
  }
  assert.ok(asked >= 1000, String(asked))
  const seen = `${server.output()}${(await server.client().get('/metrics')).text}`
  for (const text of Object.values(texts)) assert.ok(!seen.includes(text), 'a token is in the log')
})
