/**
 * Tests that the requests of many HTTP/1.1 connections are handled in stages, in order of arrival, and that no request
 * is lost.
 */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { corkInStage, readInStage } from '../../../src/apiserver/transport/http1/stages.ts'

/** Duration of a slow read in milliseconds, which exceeds the time limit of a stage. */
const slowReadMs = 6

test('connections that become readable while the reading stage is interrupted are read after connections that became readable earlier', async () => {
  const read: string[] = []
  const add = (name: string, followUp?: string) =>
    readInStage({
      readArrived: () => {
        const end = performance.now() + (followUp === undefined ? 0 : slowReadMs)
        while (performance.now() < end);
        read.push(name)
        if (followUp !== undefined) add(followUp)
      },
    })
  const names = Array.from({ length: 20 }, (_, i) => `${i}`)
  for (const name of names) add(name, name === '1' ? 'follow-up of 1' : undefined)
  for (let turn = 0; turn < 10 && read.length < 21; turn++) await setImmediate()
  assert.deepEqual(read, [...names, 'follow-up of 1'])
})

test('responses are sent only after all requests in the same stage are handled', async () => {
  const sockets = [new Socket(), new Socket()]
  const corks = () => sockets.map(({ writableCorked }) => writableCorked)
  for (const socket of sockets) corkInStage(socket)
  corkInStage(sockets[0]!)
  assert.deepEqual(corks(), [1, 1])
  // A request with several asynchronous steps also belongs to the stage.
  for (let step = 0; step < 5; step++) {
    await undefined
    assert.deepEqual(corks(), [1, 1])
  }
  await setImmediate()
  assert.deepEqual(corks(), [0, 0])
})
