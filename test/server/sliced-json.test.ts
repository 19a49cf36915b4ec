/** Tests that the server's own clients parse long responses and watch events in slices. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Client } from '../../src/client/requests/client.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { slicedJson } from '../../src/server/assembly/sliced-json.ts'
import { configMaps } from '../support/resource-types.ts'

const large = 2n ** 60n + 1n
const data = Object.fromEntries(Array.from({ length: 45_000 }, (_, i) => [`key-${i}`, 'value']))
const wide = { metadata: { name: 'wide', namespace: 'default', resourceVersion: '7' }, data }
/** The native parser does all of this work in one turn. The rest of a request needs a few turns. */
const minTurns = 10

/** Answers every request with the same body. */
function answering(body: string): Transport {
  const bytes = new TextEncoder().encode(body)
  return async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield bytes
    })(),
  })
}

/** Returns the result of a task, and the number of turns of the event loop that it needs. */
async function counted<T>(task: Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let isRunning = true
  const end = task.finally(() => {
    isRunning = false
  })
  let turns = 0
  for (; isRunning; turns++) await turn()
  return { result: await end, turns }
}

test('an object with many members in a watch event or a response is parsed in many event-loop turns', async () => {
  const own = (body: string) => new Client(answering(body), { form: slicedJson })
  const event = { type: 'ADDED', object: wide }
  const watched = await counted(Array.fromAsync(watch(own(`${JSON.stringify(event)}\n`), configMaps)))
  assert.deepEqual(watched.result, [event])
  assert.ok(watched.turns >= minTurns, `the event took ${watched.turns} turns`)
  const read = await counted(own(JSON.stringify(wide)).get(configMaps, { namespace: 'default', name: 'wide' }))
  assert.deepEqual(read.result, wide)
  assert.ok(read.turns >= minTurns, `the response took ${read.turns} turns`)
})

test('large integers keep their value, and invalid JSON is treated as a broken connection', async () => {
  const client = (body: string) => new Client(answering(body), { form: slicedJson })
  assert.deepEqual(await client(`{"n":${large}}`).read('/x'), { n: large })
  await assert.rejects(client('{"n":').read('/x'), { name: 'TransportError' })
})
