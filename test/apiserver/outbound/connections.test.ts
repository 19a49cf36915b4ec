/** Tests how calls to the same destination share connections. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock, test } from 'node:test'
import tls from 'node:tls'
import { Connections } from '../../../src/apiserver/outbound/connections.ts'
import { noCredentials } from '../../../src/apiserver/outbound/credentials.ts'
import { authorityExtensions, certificatesIn } from '../../support/openssl-certificates.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-connections-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const { certificate: authority } = certificatesIn(directory)({ subject: '/CN=ca', extensions: authorityExtensions })

test('the TLS settings of a destination are created once for all its single-use connections', () => {
  const created = mock.method(tls, 'createSecureContext')
  syncBuiltinESMExports()
  after(() => {
    created.mock.restore()
    syncBuiltinESMExports()
  })
  const connections = new Connections({ maxPerDestination: 2 })
  const destination = (port: number) => ({
    ...{ host: '127.0.0.1', port, serverName: '127.0.0.1', hostHeader: '127.0.0.1' },
    authority,
    credentials: noCredentials,
  })
  for (let i = 0; i < 3; i++) connections.singleUsePool(destination(1))
  connections.poolOf(destination(1))
  assert.equal(created.mock.callCount(), 1)
  connections.singleUsePool(destination(2))
  assert.equal(created.mock.callCount(), 2)
  connections.close()
})
