/** Tests the call log and planned failures of individual calls, both in-process and over TLS. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Informer } from '../../src/client/informers/informer.ts'
import { StatusError } from '../../src/client/requests/status-error.ts'
import { TransportError } from '../../src/client/requests/transport.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { Calls } from '../../src/testing/calls.ts'
import { startTestServer, type TestServer } from '../../src/testing/testing.ts'
import { untilTrue } from '../support/until.ts'
import { configMap, configMaps, namespace, namespaces } from './tools.ts'

for (const transport of ['in-process', 'tls'] as const)
  describe(transport, () => {
    let server: TestServer
    before(async () => {
      server = await startTestServer({ transport })
    })
    beforeEach(() => server.reset())
    after(() => server.close())
    const a = { namespace: 'default', name: 'a' }

    test('the test server lists recorded calls in order with all their attributes', async () => {
      const alice = server.user('alice')
      await server.client.create(configMaps, configMap('a'))
      await alice.client.get(configMaps, a).catch(() => {})
      await server.client.patch(configMaps, a, { patch: { merge: { data: { k: 'v' } } } })
      await server.client.update(namespaces, namespace('default'), { subresource: 'finalize' }).catch(() => {})
      await server.client.read('/version')
      await server.client.deleteCollection(configMaps, { namespace: 'default' })
      assert.deepEqual(JSON.parse(JSON.stringify(server.calls.list({ verb: 'get', user: 'alice' }))), [
        {
          verb: 'get',
          group: '',
          resource: 'configmaps',
          namespace: 'default',
          name: 'a',
          user: 'alice',
          code: 403,
          path: '/api/v1/namespaces/default/configmaps/a',
        },
      ])
      assert.deepEqual(
        [...server.calls].map(({ verb, resource, name, user, code }) => [verb, resource, name, user, code].join(' ')),
        [
          'create configmaps  admin 201',
          'get configmaps a alice 403',
          'patch configmaps a admin 200',
          'update namespaces/finalize default admin 200',
          'get   admin 200',
          'deletecollection configmaps  admin 200',
        ],
      )
      assert.equal(server.calls.list({ resource: 'namespaces' }).length, 0, 'a sub-resource has a name of its own')
      server.calls.clear()
      assert.deepEqual(server.calls.list(), [])
    })

    test('the test server lists calls by control loops only if the test names their user, and a test can wait for a call', async () => {
      const user = 'system:serviceaccount:kube-system:service-account-controller'
      const next = server.calls.next({ verb: 'create', resource: 'serviceaccounts', namespace: 'a', user })
      await server.client.create(namespaces, namespace('a'))
      assert.equal((await next).code, 201)
      assert.deepEqual(server.calls.list({ resource: 'serviceaccounts' }), [])
      await assert.rejects(
        server.calls.next({ resource: 'pods' }, { timeoutMs: 1 }),
        /within 1 ms, no call matched \{"resource":"pods"\}/,
      )
    })

    test('a planned failure of a test server makes one call fail with the given code, and the call is not executed', async () => {
      for (const [code, reason] of [
        [409, 'Conflict'],
        [500, 'InternalError'],
        [503, 'ServiceUnavailable'],
      ] as const) {
        const planned = server.failOnce({ verb: 'create', resource: 'configmaps' }, { code })
        const error = await server.client.create(configMaps, configMap('a')).catch((thrown: unknown) => thrown)
        assert.ok(error instanceof StatusError)
        assert.deepEqual([error.code, error.reason], [code, reason])
        assert.equal((await planned.happened).code, code)
      }
      await server.client.create(configMaps, configMap('a'))
      assert.throws(() => server.failOnce({}, { code: 200 }), /200 is not an error code/)
    })

    test('a planned failure of a test server can send Retry-After', async () => {
      server.failOnce({ verb: 'list' }, { code: 503, retryAfter: 7, message: 'not now' })
      const { status, headers, body } = await server.transport({
        method: 'GET',
        path: '/api/v1/pods',
        headers: {},
        body: undefined,
        signal: new AbortController().signal,
      })
      let text = ''
      for await (const chunk of body) text += Buffer.from(chunk)
      assert.deepEqual([status, headers['retry-after']], [503, '7'])
      assert.match(text, /"message":"not now"/)
    })

    test('planned failures apply in order and only to matching calls, and can be cancelled', async () => {
      await server.client.create(configMaps, configMap('a'))
      const alice = server.user('alice', { groups: ['system:masters'] })
      server.failOnce({ verb: 'get', resource: 'configmaps', name: 'a', user: 'alice' }, { code: 500 })
      server.failOnce({ verb: 'get', resource: 'configmaps', name: 'a', user: 'alice' }, { code: 503 })
      server.failOnce({ verb: 'get', namespace: 'elsewhere' }, { code: 500 })
      server.failOnce({ verb: 'get', group: 'apps' }, { code: 500 })
      const planned = server.failOnce({ verb: 'get' }, { code: 500 })
      planned.cancel()
      await server.client.get(configMaps, a)
      await assert.rejects(alice.client.get(configMaps, a), { code: 500 })
      await assert.rejects(alice.client.get(configMaps, a), { code: 503 })
      await alice.client.get(configMaps, a)
    })

    test('planned failures apply to control loops only if the test names their user', async () => {
      const user = 'system:serviceaccount:kube-system:service-account-controller'
      const spared = server.failOnce({ verb: 'create', resource: 'serviceaccounts' }, { code: 500 })
      const struck = server.failOnce({ verb: 'create', resource: 'serviceaccounts', user }, { code: 500 })
      await server.client.create(namespaces, namespace('b'))
      await struck.happened
      const codes = () =>
        server.calls.list({ verb: 'create', resource: 'serviceaccounts', user }).map(({ code }) => code)
      await untilTrue(async () => codes().includes(201))
      spared.cancel()
      assert.deepEqual(codes(), [500, 201])
    })

    test('a request that the test server drops is not executed, but a request whose response is dropped is executed', async () => {
      server.failOnce({ verb: 'create' }, { cut: 'request' })
      await assert.rejects(server.client.create(configMaps, configMap('a')), TransportError)
      await assert.rejects(server.client.get(configMaps, a), { code: 404 })
      server.failOnce({ verb: 'create' }, { cut: 'answer' })
      await assert.rejects(server.client.create(configMaps, configMap('a')), TransportError)
      await server.client.get(configMaps, a)
    })

    test('a test server can delay a response, and does not wait if the client disconnects', async () => {
      server.failOnce({ verb: 'list' }, { delayMs: 50 })
      const began = performance.now()
      await server.client.list(configMaps)
      assert.ok(performance.now() - began >= 49)
      const planned = server.failOnce({ verb: 'list' }, { delayMs: 60_000 })
      const left = new AbortController()
      const listing = server.client.list(configMaps, { signal: left.signal })
      await planned.happened
      left.abort(new Error('enough'))
      await assert.rejects(listing, /enough/)
    })

    test('a test can interrupt a watch after a number of events or at any time, and an informer recovers', async () => {
      const { resourceVersion } = await server.client.list(configMaps, { namespace: 'default' })
      for (const name of ['a', 'b', 'c']) await server.client.create(configMaps, configMap(name))
      server.failOnce({ verb: 'watch' }, { cut: 'answer', afterEvents: 2 })
      const seen: string[] = []
      const read = async () => {
        const { signal } = new AbortController()
        for await (const event of watch(server.client, configMaps, { namespace: 'default', resourceVersion, signal }))
          if (event.type !== 'BOOKMARK') seen.push(event.object.metadata.name!)
      }
      await assert.rejects(read(), TransportError)
      assert.deepEqual(seen, ['a', 'b'])

      const ended = new AbortController()
      const errors: unknown[] = []
      const informer = new Informer(server.client, configMaps, {
        selection: { namespace: 'default' },
        streamingLists: false,
        backoff: { firstMs: 1, longestMs: 5 },
        onError: (error) => errors.push(error),
      })
      const running = informer.run(ended.signal)
      await informer.synced
      await untilTrue(async () => server.cutWatches({ resource: 'configmaps' }) === 1)
      await server.client.create(configMaps, configMap('d'))
      await untilTrue(async () => informer.get({ namespace: 'default', name: 'd' }) !== undefined)
      assert.ok(errors.length > 0 && errors.every((error) => error instanceof TransportError), String(errors))
      server.failOnce({ verb: 'watch' }, { code: 410 })
      server.calls.clear()
      await untilTrue(async () => server.cutWatches() === 1)
      await server.calls.next({ verb: 'list', resource: 'configmaps' }).catch(() => {})
      assert.equal(server.calls.list({ verb: 'list' }).length, 1, 'it lists again when its version is gone')
      ended.abort()
      await running
    })
  })

test('the number of calls that a test server records is limited', () => {
  const calls = new Calls(() => false, 10)
  const info = { resource: false, verb: 'get', path: '/', query: new URLSearchParams() }
  for (let i = 0; i < 1000; i++) calls.begin({ info: { ...info, path: `/${i}` }, status: 0 } as never)
  const listed = calls.list()
  assert.ok(listed.length >= 10 && listed.length <= 11)
  assert.equal(listed.at(-1)?.path, '/999')
})
