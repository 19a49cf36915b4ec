/** Tests a front-proxy certificate and key from files. A backend that trusts only their CA accepts them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { serve } from '../../support/in-process.ts'
import { authorityExtensions, certificatesIn } from '../../support/openssl-certificates.ts'
import { until } from '../../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-given-identity-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const make = certificatesIn(directory)
const authority = make({ subject: '/CN=proxies', extensions: authorityExtensions })
const files = {
  authority: join(directory, 'ca.pem'),
  certificate: join(directory, 'p.pem'),
  key: join(directory, 'p.key'),
}

/** Writes a certificate with this name to the files that the server reads. */
function give(name: string): void {
  const pair = make({ subject: `/CN=${name}`, issuer: authority, extensions: ['extendedKeyUsage=clientAuth'] })
  writeFileSync(files.key, pair.key)
  writeFileSync(files.certificate, pair.certificate)
}

test('an aggregated API server trusts the configured client certificate, even after the certificate is replaced', async (t) => {
  writeFileSync(files.authority, authority.certificate)
  give('given-proxy')
  const server = await serve(t, [
    `--proxy-client-cert-file=${files.certificate}`,
    `--proxy-client-key-file=${files.key}`,
    `--requestheader-client-ca-file=${files.authority}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-allowed-names=given-proxy',
  ])
  const client = server.client()
  const backend = await AggregatedServer.start(t, { authority: authority.certificate })
  await giveService(client)
  const services = '/apis/apiregistration.orch.io/v1/apiservices'
  assert.equal((await client.post(services, backend.apiService())).status, 201)
  const echo = () => client.get('/apis/a.example.com/v1/echo')
  const { body } = await until(echo, ({ status }) => status === 200)
  assert.equal(backend.receivedCalls().at(-1)?.certificate, 'given-proxy')
  assert.ok((body.headers as string[]).includes('X-Remote-User'), JSON.stringify(body.headers))

  const trust = await until(
    () => client.get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'),
    ({ status }) => status === 200,
  )
  assert.equal(trust.body.data['requestheader-client-ca-file'].trim(), authority.certificate.trim())
  assert.equal(trust.body.data['requestheader-allowed-names'], '["given-proxy"]')

  give('renewed-proxy')
  await until(
    async () => {
      await echo()
      return backend.receivedCalls().at(-1)?.certificate
    },
    (name) => name === 'renewed-proxy',
  )
})
