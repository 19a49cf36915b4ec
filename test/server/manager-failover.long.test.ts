/**
 * Tests two managers on one etcd. The leader is killed, or suspended for longer than its lease. The result must be the
 * same as with a single undisturbed manager, without duplicates. With ORCH_LONG=1, a new leader takes over every five
 * seconds for a minute.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { generateKey, keyToPem } from '../../src/api/pki/keys.ts'
import { makeRequest } from '../../src/api/pki/make-request.ts'
import { startEtcd } from '../support/etcd.ts'
import { long } from '../support/long.ts'
import { type ManagerHandle, startManager } from '../support/manager.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const timing = [
  '--leader-elect-lease-duration=2s',
  '--leader-elect-renew-deadline=1500ms',
  '--leader-elect-retry-period=250ms',
]
/** How the test stops each leader, in order. */
const ends = long
  ? Array.from({ length: 12 }, (_, i) => (i % 3 === 1 ? 'stop' : 'kill'))
  : (['kill', 'stop', 'kill'] as const)
const everyMs = long ? 5000 : 0
const namespaces = Array.from({ length: 12 }, (_, i) => `ns-${i}`)
const users = Array.from({ length: 24 }, (_, i) => `user-${i}`)
const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'

test('controller managers take over when leaders are killed or suspended', { timeout: 240_000 }, async (t) => {
  const etcd = await startEtcd()
  const server = await startServer({ after: (run) => t.after(async () => run().finally(() => etcd.stop())) }, [
    `--etcd-servers=${etcd.endpoints}`,
  ])
  const admin = server.client()
  const keyFile = `${server.directory}/sa.key`
  const key = generateKey()
  writeFileSync(keyFile, keyToPem(key))
  const flags = [...timing, '--create-token-secrets', `--service-account-private-key-file=${keyFile}`]
  const start = () => startManager(t, server, flags)
  const managers = new Set<ManagerHandle>([start(), start()])
  const leader = () =>
    until(
      async () => [...managers].find((each) => each.output().includes('became the leader')),
      (found) => found !== undefined,
    ) as Promise<ManagerHandle>
  const work = async (part: number, parts: number) => {
    const some = (all: readonly string[]) => all.filter((_, i) => i % parts === part)
    for (const name of some(namespaces)) await admin.post('/api/v1/namespaces', { metadata: { name } })
    for (const name of some(users)) {
      const request = Buffer.from(makeRequest({ commonName: name, organizations: ['dev'] }, key)).toString('base64')
      const spec = { request, signerName: 'orch.io/apiserver-client', usages: ['client auth'] }
      const made = await admin.post(requests, { metadata: { name }, spec })
      const status = { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] }
      assert.equal((await admin.put(`${requests}/${name}/approval`, { ...made.body, status })).status, 200)
    }
  }
  for (const [i, how] of ends.entries()) {
    const leading = await leader()
    const pause = setTimeout(everyMs)
    await work(i, ends.length)
    await pause
    managers.delete(leading)
    if (how === 'kill') await leading.end('SIGKILL')
    else leading.process.kill('SIGSTOP')
    managers.add(start())
    const next = await leader()
    assert.notEqual(next, leading)
    if (how === 'kill') continue
    leading.process.kill('SIGCONT')
    await until(
      async () => leading.process.exitCode,
      (code) => code !== null,
    )
    assert.equal(leading.process.exitCode, 1)
    assert.match(leading.output(), /lost the leader-election lease/)
  }
  for (const name of users)
    await until(
      () => admin.get(`${requests}/${name}`),
      ({ body }) => body.status.certificate !== undefined,
    )
  for (const name of namespaces) {
    const path = `/api/v1/namespaces/${name}`
    await until(
      () => admin.get(`${path}/configmaps/kube-root-ca.crt`),
      ({ status }) => status === 200,
    )
    const account = await until(
      () => admin.get(`${path}/serviceaccounts/default`),
      ({ body }) => (body.secrets ?? []).length > 0,
    )
    const { body } = await until(
      () => admin.get(`${path}/secrets`),
      (latest) => latest.body.items.length > 0 && latest.body.items.every((each: { data?: object }) => each.data),
    )
    assert.equal(body.items.length, 1, name)
    assert.deepEqual(account.body.secrets, [{ name: body.items[0].metadata.name }])
  }
  for (const each of managers) assert.equal(await each.end(), 0, each.output())
})
