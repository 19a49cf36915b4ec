/** Tests the administrator's kubeconfig by reading it with a YAML parser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { adminKubeconfig } from '../../src/client/node/kubeconfig-write.ts'

const pems = { cluster: 'orch', authority: 'authority\n', certificate: 'certificate\n', key: 'key\n' }
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a written kubeconfig contains one cluster, user and context', () => {
  assert.deepEqual(parse(adminKubeconfig({ server: 'https://127.0.0.1:6443', ...pems })), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'orch',
        cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': base64(pems.authority) },
      },
    ],
    users: [
      {
        name: 'orch-admin',
        user: { 'client-certificate-data': base64(pems.certificate), 'client-key-data': base64(pems.key) },
      },
    ],
    contexts: [{ name: 'orch-admin@orch', context: { cluster: 'orch', user: 'orch-admin' } }],
    'current-context': 'orch-admin@orch',
  })
})

for (const server of ['https://[::1]:6443', 'a: b #c', '"\n- x: y\\', '\u007f\u0085\u2028\ufeff\0']) {
  test(`a written kubeconfig quotes the server URL ${JSON.stringify(server)}`, () => {
    assert.equal(parse(adminKubeconfig({ server, ...pems })).clusters[0].cluster.server, server)
  })
}
