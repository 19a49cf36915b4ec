/**
 * Tests which of the waiting connections are read in each turn of the event loop, depending on the time that is charged
 * to each client.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ReadingTurns } from '../../../src/wire/http/reading-turns.ts'

/**
 * Makes connections of a client wait. When a connection is resumed, the client is charged the given time and added to
 * the log.
 */
function addWaiting(turns: ReadingTurns, log: string[][], client: string, count: number, ms: number): void {
  for (let i = 0; i < count; i++)
    turns.wait({
      client,
      expectedMs: ms,
      resume: () => {
        turns.charge(client, ms)
        log.at(-1)!.push(client)
      },
    })
}

/** Returns the clients that each turn read, for the given number of turns. */
async function readTurns(turns: ReadingTurns, log: string[][], count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    log.push([])
    // This charge ensures that a turn begins.
    turns.charge(undefined, 0)
    const { current } = turns
    while (turns.current === current) await setImmediate()
  }
}

test('all clients share the time budget of an event-loop turn', async () => {
  const turns = new ReadingTurns()
  const log: string[][] = []
  const clients = Array.from({ length: 20 }, (_, i) => `client-${i}`)
  for (const client of clients) addWaiting(turns, log, client, 2, 2)
  await readTurns(turns, log, 10)
  for (const turn of log) assert.ok(turn.length <= 5, `${turn.length} connections of 2 ms in one turn`)
  assert.deepEqual(new Set(log.flat()), new Set(clients), 'all clients are read')
})

test('a client whose connections need little time is read before clients that need a lot of time', async () => {
  const turns = new ReadingTurns()
  const log: string[][] = []
  for (let i = 0; i < 20; i++) addWaiting(turns, log, `heavy-${i}`, 50, 3)
  await readTurns(turns, log, 3)
  addWaiting(turns, log, 'light', 3, 0.5)
  await readTurns(turns, log, 1)
  assert.deepEqual(log.at(-1)!.slice(0, 3), ['light', 'light', 'light'])
})

test('a client that needs a lot of time is not starved by many clients that need little time', async () => {
  const turns = new ReadingTurns()
  const log: string[][] = []
  addWaiting(turns, log, 'heavy', 3, 20)
  for (let turn = 0; turn < 30; turn++) {
    for (let i = 0; i < 10; i++) addWaiting(turns, log, `light-${turn}-${i}`, 1, 1)
    await readTurns(turns, log, 1)
  }
  assert.equal(log.flat().filter((client) => client === 'heavy').length, 3)
})

test('a resumed connection is charged only once, for either its actual or its expected time', async () => {
  const turns = new ReadingTurns()
  const log: string[][] = []
  addWaiting(turns, log, 'client', 8, 1)
  await readTurns(turns, log, 2)
  assert.deepEqual(
    log.map(({ length }) => length),
    [4, 4],
  )
})
