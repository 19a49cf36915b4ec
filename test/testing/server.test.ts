/**
 * Tests test servers: clients with both transports, users, kubeconfigs, loops, many servers at once, and a complete
 * cleanup.
 */
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { isNotFound, StatusError } from '../../src/client/requests/status-error.ts'
import type { StoredSnapshot } from '../../src/testing/snapshots.ts'
import { type Snapshot, startTestServer } from '../../src/testing/testing.ts'
import { runCommand } from '../support/run-command.ts'
import { until, untilTrue } from '../support/until.ts'
import { configMap, configMaps, namespace, namespaces, roleBindings } from './tools.ts'

for (const transport of ['in-process', 'tls'] as const)
  for (const store of ['memory', 'temporary'] as const) {
    test(`a client works with a test server (transport ${transport}, store ${store})`, async () => {
      await using server = await startTestServer({ transport, store })
      const created = await server.client.create(configMaps, configMap('a', { k: 'v' }))
      assert.equal(created.data?.k, 'v')
      assert.deepEqual((await server.client.get(configMaps, { namespace: 'default', name: 'a' })).data, { k: 'v' })
      assert.deepEqual(
        server.calls.list().map(({ verb, resource, code }) => `${verb} ${resource} ${code}`),
        ['create configmaps 201', 'get configmaps 200'],
      )
    })
  }

test('users of a test server have the permissions that RBAC grants, in-process and over TLS', async () => {
  await using server = await startTestServer()
  for (const transport of ['in-process', 'tls'] as const) {
    await using fork = await server.fork({ transport })
    const alice = fork.user('alice', { groups: ['developers'] })
    const refused = await alice.client.list(configMaps, { namespace: 'default' }).catch((error: unknown) => error)
    assert.ok(refused instanceof StatusError && refused.code === 403)
    assert.match(refused.message, /User "alice" cannot list/)
    await fork.client.create(roleBindings, {
      metadata: { namespace: 'default', name: 'developers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'developers' }],
    } as never)
    await alice.client.list(configMaps, { namespace: 'default' })
    assert.equal(fork.calls.list({ user: 'alice' }).length, 2)
  }
  assert.throws(() => server.user(''), /must have a name/)
})

test('the kubeconfig of a test server is available as an object, as text and as a file that kubectl accepts', async () => {
  await using server = await startTestServer()
  const { object, yaml, file } = server.user('bob', { groups: ['system:masters'] }).kubeconfig
  assert.equal(object['current-context'], 'test')
  assert.equal(object.clusters[0]!.cluster.server, server.url)
  assert.equal(await readFile(file, 'utf8'), yaml)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const args = [`--kubeconfig=${file}`, `--cache-dir=${file}.cache`, 'get', 'namespaces', '-o', 'name']
  const { stdout, stderr } = await runCommand('kubectl', args)
  assert.match(stdout, /^namespace\/default$/m, stderr)
  assert.equal(server.calls.list({ user: 'bob', resource: 'namespaces', verb: 'list' })[0]?.code, 200)
})

test('in a test server, a deleted namespace and its content are removed only if the control loops run', async () => {
  await using server = await startTestServer()
  const made = await server.client.create(namespaces, namespace('a'))
  assert.equal(made.metadata.name, 'a')
  await server.client.create(configMaps, configMap('x', {}, 'a'))
  await server.client.delete(namespaces, { name: 'a' })
  const isGone = () =>
    server.client.get(namespaces, { name: 'a' }).then(
      () => false,
      (error: unknown) => isNotFound(error),
    )
  await untilTrue(isGone)
  await using alone = await startTestServer({ controlLoops: false })
  await alone.client.create(namespaces, namespace('a'))
  const deleted = (await alone.client.delete(namespaces, { name: 'a' })) as { metadata: { deletionTimestamp?: string } }
  assert.ok(deleted.metadata.deletionTimestamp !== undefined)
  await alone.client.get(namespaces, { name: 'a' })
})

test('two test servers with the same options start with the same objects', async () => {
  await using first = await startTestServer()
  await using second = await startTestServer()
  const began = await second.snapshot()
  // The control loops start a little later than the server. Their effect on this object proves that they run.
  await second.client.create(namespaces, namespace('a'))
  await second.calls.next({ user: 'system:serviceaccount:kube-system:service-account-controller', verb: 'create' })
  await second.reset()
  assert.deepEqual(contentsOf(await second.snapshot()), contentsOf(began))
  const others = contentsOf(await first.snapshot())
  assert.deepEqual(
    contentsOf(began)
      .filter((entry) => !others.includes(entry))
      .map((entry) => entry.split(' ')[0]),
    ['objects/core/services/default/kubernetes', 'objects/networking/ipaddresses/10.0.0.1'],
  )
})

test('a test server does not start with the identity Lease of an earlier test server', async () => {
  const options = { emulatedVersion: '1.28', transport: 'tls' } as const
  const names: string[] = []
  for (let count = 0; count < 2; count++) {
    await using server = await startTestServer(options)
    const leases = await until(
      async () =>
        contentsOf(await server.snapshot()).filter((entry) => entry.includes('/leases/kube-system/apiserver-')),
      (entries) => entries.length > 0,
    )
    names.push(...leases.map((entry) => entry.split(' ')[0]!))
  }
  assert.equal(new Set(names).size, 2)
  assert.equal(names.length, 2)
})

/** Returns all stored entries except keys. */
function contentsOf(snapshot: Snapshot): string[] {
  const { entries } = snapshot as StoredSnapshot
  return entries.flatMap(({ key, value }) => (key.startsWith('meta/') ? [] : [`${key} ${Buffer.from(value)}`]))
}

test('invalid options of a test server are rejected', async () => {
  await assert.rejects(startTestServer({ flags: ['--data-dir=x'] }), /the test server sets --data-dir itself/)
  await assert.rejects(startTestServer({ flags: ['--no-such-flag'] }), /unknown flag --no-such-flag/)
  await assert.rejects(startTestServer({ controlLoops: ['no-such-loop'] }), /no-such-loop/)
})

test('twelve concurrent test servers are independent and leave no files or handles', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  after(() => process.off('warning', onWarning))
  let observers = 0
  t.mock.method(PerformanceObserver.prototype, 'observe', () => observers++)
  const before = { listeners: listenerCounts(), resources: resources() }
  const servers = await Promise.all(Array.from({ length: 12 }, () => startTestServer()))
  await Promise.all(
    servers.map(async ({ client, transport }, i) => {
      await client.create(configMaps, configMap(`own-${i}`))
      const { items } = await client.list(configMaps, { namespace: 'default' })
      assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), ['kube-root-ca.crt', `own-${i}`])
      // Each server records its own metrics.
      const text = await readMetrics(transport)
      const created = /^apiserver_request_total\{.*resource="configmaps".*verb="POST".*\} (\d+)$/m.exec(text)
      assert.equal(created?.[1], '1', text.slice(0, 200))
    }),
  )
  const files = servers.map(({ kubeconfig }) => kubeconfig.file)
  await Promise.all(servers.map((server) => server.close()))
  assert.deepEqual(files.filter(existsSync), [])
  await untilTrue(async () => resources() <= before.resources)
  assert.deepEqual(listenerCounts(), before.listeners)
  assert.deepEqual(warnings, [])
  assert.ok(observers <= 1, `the process is observed once, not by each server: ${observers}`)
})

async function readMetrics(transport: Awaited<ReturnType<typeof startTestServer>>['transport']): Promise<string> {
  const signal = new AbortController().signal
  const { body } = await transport({ method: 'GET', path: '/metrics', headers: {}, body: undefined, signal })
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function listenerCounts(): string {
  return process
    .eventNames()
    .map((name) => `${String(name)}: ${process.listenerCount(name)}`)
    .sort()
    .join(', ')
}

function resources(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length
}
