/**
 * Tests that a connection with many HTTP/2 requests does not delay other connections, because its requests are started
 * a few at a time.
 */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { defaultTimes } from '../../../src/apiserver/transport/connection-limits.ts'
import type { Http2Owner } from '../../../src/apiserver/transport/engine.ts'
import { Http2Server } from '../../../src/apiserver/transport/http2/server.ts'
import type { Peer, ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'

test('a connection with many requests delays neither the event loop nor requests on other connections', async () => {
  const started: string[] = []
  const turns = new Map<number, number>()
  let owner: Http2Owner | undefined
  const link = { close: () => {}, check: () => {} }
  const engine = {
    openHttp2: (_socket: unknown, _peer: unknown, given: Http2Owner) => {
      owner = given
      return link
    },
  }
  const server = new Http2Server(engine, defaultTimes, ({ target }) => {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount
    turns.set(turn, (turns.get(turn) ?? 0) + 1)
    started.push(target)
    for (const end = performance.now() + 1; performance.now() < end; );
  })
  server.accept(new Socket(), {} as Peer)
  const hostile = { address: 'hostile' } as Peer
  const ordinary = { address: 'ordinary' } as Peer
  const request = (peer: Peer, target: string) => owner!.onRequest({ peer, target } as ServerTransport)
  for (let i = 0; i < 60; i++) request(hostile, `hostile ${i}`)
  request(ordinary, 'ordinary')
  while (started.length < 61) await setImmediate()
  assert.ok(started.indexOf('ordinary') <= 1)
  assert.ok(Math.max(...turns.values()) <= 6, JSON.stringify([...turns.values()]))
  assert.deepEqual(
    started.filter((target) => target !== 'ordinary'),
    Array.from({ length: 60 }, (_, i) => `hostile ${i}`),
  )
  server.close()
})
