/**
 * Tests an authenticating proxy with its own certificate: its headers are trusted, and the same headers from other
 * clients are ignored.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { CertifiedKey } from '../../../src/api/pki/authority.ts'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import {
  authorityExtensions,
  certificatesIn,
  type OpensslCertificate,
  type WantedCertificate,
} from '../../support/openssl-certificates.ts'
import { ask, caOf, untilClosed } from '../../support/raw-http.ts'
import type { Served } from '../../support/server.ts'
import { startFailing } from '../../support/start-failing.ts'

const usual = [
  '--requestheader-username-headers=X-Remote-User,X-Other-User',
  '--requestheader-group-headers=X-Remote-Group,X-Other-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-,X-More-',
  '--requestheader-allowed-names=front-proxy,second-proxy',
]

interface World {
  readonly make: (wanted: WantedCertificate) => OpensslCertificate
  readonly clients: OpensslCertificate
  readonly proxies: OpensslCertificate
  readonly directory: string
}

function makeWorld(t: TestContext): World {
  const directory = mkdtempSync(join(tmpdir(), 'orch-proxy-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const make = certificatesIn(directory)
  const [clients, proxies] = ['clients', 'proxies'].map((name) =>
    make({ subject: `/CN=${name}`, extensions: authorityExtensions }),
  )
  return { make, clients: clients!, proxies: proxies!, directory }
}

const jane = { 'X-Remote-User': 'jane' }

test('the request headers sent by the authenticating proxy determine the user', { timeout: 300_000 }, async (t) => {
  const { make, clients, proxies } = makeWorld(t)
  const server = await serve(t, [
    `--client-ca-file=${clients.certificateFile}`,
    `--requestheader-client-ca-file=${proxies.certificateFile}`,
    ...usual,
  ])
  const proxy = make({ subject: '/CN=front-proxy', issuer: proxies })
  const userFor = async (headers: { readonly [name: string]: string | string[] }) => {
    const { status, user, groups, extra } = await authenticatedUser(server, { certificate: proxy, headers })
    return { status, user, groups, ...(extra === undefined ? {} : { extra }) }
  }
  const expectedUser = (user: string, groups: readonly string[] = []) => ({
    status: 201,
    user,
    groups: [...groups, 'system:authenticated'],
  })

  await t.test('the server reads the user name, groups and extra attributes from the proxy headers', async () => {
    assert.deepEqual(await userFor(jane), expectedUser('jane'))
    assert.deepEqual(await userFor({ 'x-ReMoTe-uSeR': 'jane' }), expectedUser('jane'))
    assert.deepEqual(await userFor({ 'X-Other-User': 'joe' }), expectedUser('joe'))
    assert.deepEqual(await userFor({ 'X-Other-User': 'joe', ...jane }), expectedUser('jane'))
    assert.deepEqual(await userFor({ 'X-Other-User': 'joe', 'X-Remote-User': '' }), expectedUser('joe'))
    assert.deepEqual(
      await userFor({ ...jane, 'X-Remote-Group': ['a', 'b, c', '', 'a'], 'X-Other-Group': 'd' }),
      expectedUser('jane', ['a', 'b, c', 'a', 'd']),
    )
    assert.deepEqual(
      await userFor({
        ...jane,
        'X-Remote-Extra-Scopes': ['openid', 'a, b'],
        'x-remote-extra-acme.com%2FProject%41': 'one%2ftwo',
        'X-Remote-Extra-50%': 'odd',
        'X-Remote-Extra-__proto__': 'x',
        'X-More-More': 'y',
      }),
      {
        ...expectedUser('jane'),
        extra: JSON.parse(
          '{"scopes":["openid","a, b"],"acme.com/projectA":["one%2ftwo"],"50%":["odd"],"__proto__":["x"],"more":["y"]}',
        ),
      },
    )
    const umlaut = Buffer.from('Jürgen').toString('latin1')
    assert.deepEqual(
      await userFor({ 'X-Remote-User': umlaut, 'X-Remote-Group': umlaut }),
      expectedUser('Jürgen', ['Jürgen']),
    )
    assert.equal((await userFor({ 'X-Remote-User': 'J\u00fcrgen' })).status, 401, 'not UTF-8')
    assert.equal((await userFor({ ...jane, 'X-Remote-Group': 'J\u00fcrgen' })).status, 401, 'not UTF-8')
  })

  await t.test('since 1.33, the server reads the UID from a proxy header', async (t) => {
    const flags = [
      `--requestheader-client-ca-file=${proxies.certificateFile}`,
      ...usual,
      '--requestheader-uid-headers=X-Remote-Uid,X-Other-Uid',
    ]
    const newer = await serve(t, [...flags, '--emulated-version=1.33'])
    const uidFor = async (headers: { readonly [name: string]: string }) =>
      (await authenticatedUser(newer, { certificate: proxy, headers })).uid ?? ''
    assert.equal(await uidFor({ ...jane, 'X-Remote-Uid': '42', 'X-Other-Uid': '43' }), '42')
    assert.equal(await uidFor({ ...jane, 'X-Other-Uid': '43' }), '43')
    assert.equal(await uidFor(jane), '')
    const { errors } = await startFailing(t, [...flags, '--emulated-version=1.31'])
    assert.match(errors, /--requestheader-uid-headers requires the feature gate RemoteRequestHeaderUID/)
  })

  await t.test('a proxy request with two user name headers is rejected', async () => {
    for (const second of ['jane', 'joe'])
      assert.equal((await userFor({ 'X-Remote-User': ['jane', second] })).status, 400)
  })

  await t.test('a proxy request without a user name is not authenticated', async () => {
    assert.equal((await userFor({})).status, 401)
    assert.equal((await userFor({ 'X-Remote-Group': 'system:masters' })).status, 401)
    const identity = await authenticatedUser(server, { certificate: proxy, token: 'bob-token' })
    assert.deepEqual([identity.status, identity.user], [201, 'bob'])
  })

  await t.test('only proxies with an allowed common name and a valid certificate are accepted', async () => {
    const by = async (subject: string, more: Partial<WantedCertificate> = {}) =>
      (await authenticatedUser(server, { certificate: make({ subject, issuer: proxies, ...more }), headers: jane }))
        .status
    assert.equal(await by('/CN=second-proxy'), 201)
    assert.equal(await by('/CN=Front-Proxy'), 401)
    assert.equal(await by('/CN=third-proxy'), 401)
    assert.equal(await by('/O=front-proxy'), 401)
    assert.equal(await by('/CN=front-proxy/CN=front-proxy'), 401)
    assert.equal(await by('/CN=front-proxy/CN=x'), 401)
    assert.equal(await by('/CN=x/CN=front-proxy'), 401)
    assert.equal(await by('/CN=front-proxy', { extensions: ['extendedKeyUsage=serverAuth'] }), 401)
  })

  await t.test('a client certificate takes precedence over proxy headers', async () => {
    const spoof = { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters', 'X-Remote-Extra-A': 'b' }
    const certificate = make({ subject: '/CN=front-proxy', issuer: clients })
    const identity = await authenticatedUser(server, { certificate, headers: spoof })
    assert.deepEqual(
      [identity.user, identity.groups, identity.extra],
      ['front-proxy', ['system:authenticated'], undefined],
    )
  })

  await t.test('proxy headers from other clients are ignored, regardless of spelling', async () => {
    await assertIgnored(server, { clients, make })
  })

  await t.test('proxy headers work over HTTP/2', async () => {
    const { certificate: cert, key } = proxy
    const session = connectHttp2(server.url, { ca: caOf(server), cert, key })
    t.after(() => session.destroy())
    const body = '{"apiVersion":"ops.orch.io/v1","kind":"WhoAmI"}'
    const path = '/apis/ops.orch.io/v1/whoamis'
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/json' }
    const { text } = await ask(session, { ...head, 'x-remote-user': 'jane', 'x-remote-group': ['a', 'b'] }, [body])
    assert.deepEqual(JSON.parse(text).status, { user: 'jane', groups: ['a', 'b', 'system:authenticated'] })
  })

  await t.test('a user from proxy headers may impersonate other users if RBAC allows it', async () => {
    const masters = { ...jane, 'X-Remote-Group': 'system:masters' }
    assert.equal((await userFor({ ...masters, 'Impersonate-User': 'joe' })).user, 'joe')
    assert.equal((await userFor({ ...jane, 'Impersonate-User': 'joe' })).status, 403)
    const umlaut = Buffer.from('Jürgen').toString('latin1')
    assert.equal((await userFor({ ...masters, 'Impersonate-User': umlaut })).user, 'Jürgen')
    assert.equal((await userFor({ ...masters, 'Impersonate-User': 'J\u00fcrgen' })).status, 400)
  })
})

async function assertIgnored(server: Served, { clients, make }: Pick<World, 'clients' | 'make'>): Promise<void> {
  const other = make({ subject: '/CN=proxies', extensions: authorityExtensions })
  const shown: {
    readonly [name: string]: { certificate?: CertifiedKey; token?: string; user: string | undefined; status: number }
  } = {
    nothing: { user: undefined, status: 403 },
    'a wrong token': { token: 'wrong', user: undefined, status: 401 },
    'a right token': { token: 'bob-token', user: 'bob', status: 201 },
    'a client certificate': {
      certificate: make({ subject: '/CN=carl', issuer: clients }),
      user: 'carl',
      status: 201,
    },
    'a self-signed one': { certificate: make({ subject: '/CN=front-proxy' }), user: undefined, status: 401 },
    'a certificate from another CA with the same name': {
      certificate: make({ subject: '/CN=front-proxy', issuer: other }),
      user: undefined,
      status: 401,
    },
  }
  const forms: readonly { readonly [name: string]: string | string[] }[] = [
    { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters' },
    { X_Remote_User: 'root', X_Remote_Group: 'system:masters' },
    { 'x-remote-user': 'root', 'x-remote-extra-scopes': 'all' },
    { 'X-Remote-User': ['root', 'root'] },
  ]
  for (const [name, { user, status, ...credentials }] of Object.entries(shown)) {
    for (const headers of forms) {
      const identity = await authenticatedUser(server, { ...credentials, headers })
      assert.deepEqual(
        [identity.status, identity.user, identity.extra],
        [status, user, undefined],
        `${name}: ${identity.text}`,
      )
    }
  }
}

test('proxy headers sent as trailers are ignored', { timeout: 300_000 }, async (t) => {
  const { make, proxies } = makeWorld(t)
  const server = await serve(t, [
    `--requestheader-client-ca-file=${proxies.certificateFile}`,
    '--requestheader-username-headers=X-Remote-User,Impersonate-User',
  ])
  const { certificate: cert, key } = make({ subject: '/CN=anything', issuer: proxies })
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: caOf(server), cert, key })
  socket.write(
    [
      'POST /apis/ops.orch.io/v1/whoamis HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Trailer: X-Remote-User',
      '',
      '2\r\n{}\r\n0',
      'X-Remote-User: root',
      '',
      '',
    ].join('\r\n'),
  )
  assert.match(await untilClosed(socket), /^HTTP\/1\.1 401 /)

  await t.test('any proxy name is allowed if no proxy names are configured', async () => {
    const certificate = make({ subject: '/CN=anything', issuer: proxies })
    assert.equal((await authenticatedUser(server, { certificate, headers: jane })).user, 'jane')
    const several = make({ subject: '/CN=anything/CN=else', issuer: proxies })
    assert.equal((await authenticatedUser(server, { certificate: several, headers: jane })).status, 401)
    assert.match(server.output(), /several common names.* fingerprint=/)
  })

  await t.test('proxy headers are removed before later handlers run', async () => {
    // If the header still triggered impersonation, the administrator would become joe, and the other users would be
    // rejected.
    const headers = { 'Impersonate-User': 'joe' }
    assert.equal((await authenticatedUser(server, { token: 'admin-token', headers })).user, 'admin')
    assert.equal((await authenticatedUser(server, { token: 'bob-token', headers })).user, 'bob')
    assert.equal((await authenticatedUser(server, { certificate: { certificate: cert, key }, headers })).user, 'joe')
  })

  await t.test('changes to the proxy CAs take effect, even on open connections', async () => {
    const agent = agentOf(server, { certificate: cert, key })
    t.after(() => agent.destroy())
    const asked = () => authenticatedUser(server, { agent, headers: jane })
    assert.equal((await asked()).user, 'jane')
    const other = make({ subject: '/CN=proxies', extensions: authorityExtensions })
    writeFileSync(proxies.certificateFile, other.certificate)
    await until(asked, ({ status }) => status === 401)
    writeFileSync(proxies.certificateFile, proxies.certificate)
    await until(asked, ({ status }) => status === 201)
  })
})

test('a proxy flag is rejected if another required proxy flag is missing', { timeout: 300_000 }, async (t) => {
  const { proxies } = makeWorld(t)
  const authority = `--requestheader-client-ca-file=${proxies.certificateFile}`
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    ...usual.map(
      (flag) => [[flag], /^orch: --requestheader-.* requires --requestheader-client-ca-file, .*\n$/] as const,
    ),
    [[authority], /--requestheader-client-ca-file requires --requestheader-username-headers/],
    [[authority, usual[1]!], /--requestheader-client-ca-file requires --requestheader-username-headers/],
    [[authority, '--requestheader-username-headers=X-Remote-User,a b'], /"a b" is not a valid header name/],
    [['--requestheader-client-ca-file=/dev/null', usual[0]!], /--requestheader-client-ca-file: cannot read/],
  ]
  for (const [flags, fault] of rows) {
    const { code, errors } = await startFailing(t, flags)
    assert.equal(code, 1, flags.join(' '))
    assert.match(errors, fault)
  }
})
