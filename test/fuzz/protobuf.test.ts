/**
 * Tests damaged messages of every kind. Each message must either be rejected as the client's fault or be parsed, and a
 * parsed message must survive a round trip. A damaged message that is sent to a server must never cause a 500 or a slow
 * response, and the stored object must equal the response.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, seal } from '../../src/api/codec/protobuf/envelope.ts'
import { readMessage } from '../../src/api/codec/protobuf/read.ts'
import { writeMessage } from '../../src/api/codec/protobuf/write.ts'
import { type JsonObject, sameJson } from '../../src/api/json/json.ts'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { apiVersionOf, vendorOf } from '../../src/api/model/vendor.ts'
import { decode } from '../../src/api/schema/decode.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import { WireError } from '../../src/wire/protobuf/protobuf-wire.ts'
import { makeObject, makingFrom } from '../api/kinds/random-object.ts'
import { metadataOf, validValues } from '../api/kinds/valid-values.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { noControls } from '../support/accounts.ts'
import { serve } from '../support/in-process.ts'
import { survivalCheck } from '../support/survival-check.ts'
import { Counts, everyOne, faultOfStatus } from './answers.ts'
import { rounds, Slowest, seed, tell, unlessRefused } from './scale.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const vendor = vendorOf('orch')
const generous = 1000

/** Bytes that resemble the start of a field: tags, excessive lengths, endless varints and groups. */
const odd = [
  '00',
  '0a',
  '0b',
  '0c',
  '12ffffffff07',
  'ffffffffffffffffff01',
  'ffffffffffffffffffff',
  '0aff7f',
  '0d',
  '2203c328ff',
  '9b069c06',
  '0a00',
  '1a020a00',
].map((hex) => Buffer.from(hex, 'hex'))

const mutations: readonly ((random: RandomSource, bytes: Buffer) => Buffer)[] = [
  (random, bytes) => changed(bytes, (copy) => (copy[random.below(copy.length)] = random.below(256))),
  (random, bytes) => changed(bytes, (copy) => (copy[random.below(copy.length)]! ^= 1 << random.below(8))),
  (random, bytes) => bytes.subarray(0, random.below(bytes.length)),
  (random, bytes) => spliced(bytes, random.below(bytes.length), random.below(8), random.pick(odd)),
  (random, bytes) => spliced(bytes, random.below(bytes.length), 0, random.pick(odd)),
  (random, bytes) => {
    const from = random.below(bytes.length)
    return spliced(bytes, random.below(bytes.length), 0, bytes.subarray(from, from + random.below(40)))
  },
  (random, bytes) => spliced(bytes, random.below(bytes.length), 1 + random.below(20), Buffer.alloc(0)),
]

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

function spliced(bytes: Buffer, at: number, dropped: number, put: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + dropped)])
}

function mutated(random: RandomSource, bytes: Buffer): Buffer {
  let result = bytes
  for (let i = 1 + random.below(2); i > 0 && result.length > 0; i--) result = random.pick(mutations)(random, result)
  return result
}

/** Reads a message. Returns undefined if the message is rejected. */
function read({ schema }: Kind, bytes: Buffer): JsonObject | undefined {
  return unlessRefused(() => {
    try {
      return decode(schema, readMessage(schema, bytes, vendor)).value as JsonObject
    } catch (error) {
      if (error instanceof WireError) return undefined
      throw error
    }
  })
}

test('damaged Protobuf messages are rejected or survive a round trip', () => {
  const random = seeded(seed)
  const slowest = new Slowest()
  const messages = allKinds.map((kind) => ({
    kind,
    valid: Array.from({ length: 20 }, (_, i) => messageFrom(kind, i)),
  }))
  const counts = { messages: rounds(1_500, 3_000_000), accepted: 0, 'written again': 0 }
  for (let i = 0; i < counts.messages; i++) {
    const { kind, valid } = random.pick(messages)
    const bytes = mutated(random, random.pick(valid))
    // Measure only some of the runs, because reading the CPU time is expensive.
    const value = i % 20 === 0 ? slowest.run(() => read(kind, bytes)) : read(kind, bytes)
    if (value === undefined) continue
    counts.accepted++
    if (i % 10 !== 0) continue
    counts['written again']++
    const again = read(kind, writeMessage(kind.schema, value, { vendor }))
    if (!sameJson(again, value)) assert.deepEqual(again, value, bytes.toString('hex'))
  }
  assert.ok(counts.accepted > counts.messages / 100)
  assert.ok(slowest.ms < generous, `${slowest.ms} ms`)
  tell('damaged Protobuf', { ...counts, 'ms for the slowest': Math.round(slowest.ms) })
})

function messageFrom(kind: Kind, from: number): Buffer {
  return writeMessage(
    kind.schema,
    decode(kind.schema, makeObject(kind.schema, makingFrom(from), validValues)).value as JsonObject,
    { vendor },
  )
}

test('damaged Protobuf documents sent to a server are rejected or stored', { timeout: 9 * 60_000 }, async (t) => {
  const server = await serve(t, [noControls])
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const kinds = allKinds.filter(({ lifecycle: life }) => !life.virtual)
  const counts = new Counts()
  const headers = { 'content-type': vendor.protobufMediaType }
  const lanes = Array.from({ length: 8 }, (_, lane) => seeded(seed * 100 + lane))
  let sent = 0
  await everyOne(rounds(120, 100_000), lanes.length, async (lane) => {
    const random = lanes[lane]!
    const kind = random.pick(kinds)
    const document = newDocument(kind, ++sent)
    const raw = random.chance(0.5) ? mutated(random, document) : mutatedWithin(random, document)
    const answer = await client.send(collection(kind), { method: 'POST', raw, headers })
    counts.add(answer.status)
    const fault = answer.status === 201 ? undefined : faultOfStatus(answer)
    if (answer.status >= 500 || fault !== undefined) counts.wrong(`${raw.toString('hex')}: ${fault ?? answer.text}`)
    if (answer.status !== 201) return
    const { name } = answer.body.metadata
    const stored = await client.get(`${collection(kind)}/${name}`)
    if (stored.text !== answer.text) counts.wrong(`answered ${answer.text}, stored ${stored.text}`)
    await client.delete(`${collection(kind)}/${name}`, { gracePeriodSeconds: 0 })
  })
  tell('damaged Protobuf to a server', counts.reportedCounts())
  assert.deepEqual(counts.faults, [])
  await assertAlive()
})

function newDocument(kind: Kind, i: number): Buffer {
  const making = makingFrom(i)
  const { status: _, ...made } = makeObject(kind.schema, making, validValues)
  const object = { ...made, metadata: metadataOf(making, `f${i}-${kind.version}`) }
  const type = { apiVersion: apiVersionOf(vendor, kind.group, kind.version), kind: kind.kind }
  return seal(type, writeMessage(kind.schema, decode(kind.schema, object).value as JsonObject, { vendor }))
}

/** Damages the message inside a valid envelope. */
function mutatedWithin(random: RandomSource, document: Buffer): Buffer {
  const { message, ...type } = open(document)
  return seal(type, mutated(random, Buffer.from(message)))
}

function collection(kind: Kind): string {
  const root = kind.group === 'core' ? '/api' : '/apis'
  const place = kind.scope === 'Cluster' ? '' : '/namespaces/default'
  return `${root}/${apiVersionOf(vendor, kind.group, kind.version)}${place}/${kind.plural}`
}
