/**
 * Tests mutated and damaged bodies sent to a real server: creates and updates in JSON and YAML, the four patch
 * types, and delete options. Each response must be valid for the request, and each rejection must be a Status. An
 * accepted object must contain the sent values, and a later read must return it unchanged. A rejected request must
 * change nothing. At the end, the server must still be the same process.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ModelOperation,
  modelJsonPatch,
  modelMergePatch,
  randomOperations,
  type Value,
} from '../api/merge/models.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { noControls } from '../support/accounts.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'
import { serve } from '../support/in-process.ts'
import { survivalCheck } from '../support/survival-check.ts'
import { Counts, everyOne, faultOfStatus } from './answers.ts'
import { damaged } from './documents.ts'
import { isSame, mutated } from './mutations.ts'
import { rounds, seed, tell } from './scale.ts'
import {
  type Body,
  bodyOf,
  deleteOptions,
  json,
  type Kind,
  kinds,
  type Members,
  sentValue,
  yaml,
} from './sent-bodies.ts'

// An object, and the requests to it.

interface Target {
  readonly client: HttpClient
  readonly kind: Kind
  readonly name: string
  readonly random: RandomSource
}

interface Tried {
  readonly answer: Answer
  readonly sent: string
  readonly fault: string | undefined
}

const pathOf = ({ kind, name }: Target) => `${kind.path}/${name}`

async function renew(target: Target): Promise<void> {
  await remove(target.client, pathOf(target))
  const made = await target.client.post(target.kind.path, target.kind.valid(target.name))
  assert.equal(made.status, 201, made.text)
}

/** Removes the object, regardless of its finalizers. */
async function remove(client: HttpClient, path: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.send(path, { method: 'PATCH', headers, body: { metadata: { finalizers: null } } })
  await client.delete(path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })
  const { status, text } = await client.get(path)
  assert.equal(status, 404, `${path} is still there: ${text}`)
}

async function tryCreate({ client, kind, name, random }: Target): Promise<Tried> {
  const type = random.pick([json, yaml])
  const body = bodyOf(random, kind.valid(`${name}-new`), type)
  const query = random.chance(0.4) ? writeOptions(random) : new URLSearchParams()
  const path = `${kind.path}?${query}`
  const answer = await client.send(path, { method: 'POST', headers: { 'content-type': type }, raw: body.text })
  const tried = { answer, sent: `POST ${path} ${type} ${body.text}` }
  if (answer.status !== 201) return { ...tried, fault: faultOfRefusal(answer, areSound(query) ? [400, 422] : [422]) }
  const made = `${kind.path}/${encodeURIComponent(answer.body.metadata.name)}`
  const read = await client.get(made)
  const dry = query.get('dryRun') === 'All'
  const fault = areSound(query) ? (faultOfBody(type, body) ?? faultOfKept(answer, body)) : 'accepted with wrong options'
  if (dry) return { ...tried, fault: fault ?? (read.status === 404 ? undefined : 'a dry run made it') }
  await remove(client, made)
  return { ...tried, fault: fault ?? faultOfStored(answer, read) }
}

const unprintable = ['\u0007', '\u202e']

function writeOptions(random: RandomSource): URLSearchParams {
  const some: readonly (readonly [name: string, values: readonly string[]])[] = [
    ['fieldValidation', ['Strict', 'Warn', 'Ignore', '', 'strict', 'Bogus']],
    ['dryRun', ['All', 'All', '', 'all', 'None']],
    [
      'fieldManager',
      ['m', '', 'é', '__proto__', 'm'.repeat(128), 'é'.repeat(65), ...unprintable.map((letter) => `a${letter}`)],
    ],
    ['unknown', ['x']],
  ]
  const query = new URLSearchParams()
  for (const [name, values] of some) if (random.chance(0.4)) query.append(name, random.pick(values))
  return query
}

/** Whether the write options in the query are valid. */
function areSound(query: URLSearchParams): boolean {
  const manager = query.get('fieldManager') ?? ''
  return (
    ['', 'Strict', 'Warn', 'Ignore'].includes(query.get('fieldValidation') ?? '') &&
    ['', 'All'].includes(query.get('dryRun') ?? '') &&
    Buffer.byteLength(manager) <= 128 &&
    !unprintable.some((letter) => manager.includes(letter))
  )
}

/** Returns an error if the server accepted a JSON body that is not valid JSON. */
function faultOfBody(type: string, body: Body): string | undefined {
  return type === json && sentValue(body) === undefined ? 'accepted, but it is not JSON' : undefined
}

/**
 * Returns an error unless the response contains all strings that were sent in labels, annotations and the data of a
 * ConfigMap.
 */
function faultOfKept({ body }: Answer, sent: Body): string | undefined {
  const value = sentValue(sent)
  if (value === undefined) return undefined
  const maps = [['metadata', 'labels'], ['metadata', 'annotations'], ['data']]
  for (const path of maps) {
    const was = textsAt(value, path)
    const is = textsAt(body, path)
    const lost = Object.entries(was).find(([key, text]) => !Object.hasOwn(is, key) || is[key] !== text)
    if (lost !== undefined) return `${path.join('.')} lost ${lost}`
  }
  return undefined
}

function textsAt(value: Value, path: readonly string[]): { readonly [key: string]: string } {
  let at: Value | undefined = value
  for (const name of path) at = isMap(at) && Object.hasOwn(at, name) ? at[name] : undefined
  const texts = Object.entries(isMap(at) ? at : {}).filter(([, text]) => typeof text === 'string')
  return Object.fromEntries(texts) as { [key: string]: string }
}

function isMap(value: Value | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultOfStored(answered: Answer, read: Answer): string | undefined {
  return answered.text === read.text ? undefined : `answered ${answered.text}\nread back ${read.text}`
}

function faultOfRefusal(answer: Answer, codes: readonly number[]): string | undefined {
  return codes.includes(answer.status) ? faultOfStatus(answer) : `${answer.status}: ${answer.text.slice(0, 300)}`
}

/** A change to the existing object. `expected` is the result that a model predicts, if a model applies. */
interface Change {
  readonly method: 'PUT' | 'PATCH'
  readonly type: string
  readonly body: Body
  readonly query?: string
  readonly expected?: Value | 'refused'
}

async function tryChange(target: Target, make: (before: Members) => Change): Promise<Tried> {
  const { client } = target
  const before = await client.get(pathOf(target))
  const { method, type, body, query = '', expected } = make(before.body)
  const path = `${pathOf(target)}${query}`
  const answer = await client.send(path, { method, headers: { 'content-type': type }, raw: body.text })
  const after = await client.get(pathOf(target))
  const tried = { answer, sent: `${method} ${path} ${type} ${body.text} on ${before.text}` }
  if (answer.status !== 200)
    return {
      ...tried,
      fault: faultOfRefusal(answer, [400, 409, 413, 422]) ?? faultOfStored(before, after),
    }
  if (expected === 'refused') return { ...tried, fault: 'accepted against the model' }
  const fault = expected === undefined ? undefined : faultOfKept(answer, { text: body.text, value: expected })
  return {
    ...tried,
    fault: fault ?? (type === yaml ? undefined : faultOfBody(json, body)) ?? faultOfStored(answer, after),
  }
}

const ways: { readonly [name: string]: (target: Target) => Promise<Tried> } = {
  create: tryCreate,
  put: (target) =>
    tryChange(target, (before) => {
      const type = target.random.pick([json, yaml])
      const body = bodyOf(target.random, before, type)
      return { method: 'PUT', type, body, ...(sentValue(body) === undefined ? {} : { expected: sentValue(body)! }) }
    }),
  'json patch': (target) =>
    tryChange(target, (before) => {
      const { random } = target
      const operations = random.chance(0.6) ? plainOperations(random, before) : anyOperations(random, before)
      const damage = random.chance(0.2)
      const text = JSON.stringify(random.chance(0.1) ? mutated(random, operations as never) : operations)
      const body = { text: damage ? damaged(random, text) : Buffer.from(text), value: undefined }
      const type = 'application/json-patch+json'
      const plain = sentValue(body) !== undefined && isSame(sentValue(body)!, operations as never)
      return { method: 'PATCH', type, body, ...(plain ? { expected: modelJsonPatch(before, operations) } : {}) }
    }),
  'merge patch': (target) => tryChange(target, (before) => mergeChange(target, before, 'merge-patch')),
  'strategic merge patch': (target) =>
    tryChange(target, () => {
      const { expected: _, ...change } = mergeChange(target, {}, 'strategic-merge-patch')
      return change
    }),
  apply: (target) =>
    tryChange(target, () => {
      const body = bodyOf(target.random, target.kind.valid(target.name), yaml)
      const query = `?fieldManager=${target.random.pick(['m', 'n'])}${target.random.pick(['', '&force=true'])}`
      return {
        method: 'PATCH',
        type: 'application/apply-patch+yaml',
        body: { ...body, value: body.value ?? null },
        query,
      }
    }),
  delete: tryDelete,
}

/** Returns operations that typically change string maps. */
function plainOperations(random: RandomSource, before: Members): ModelOperation[] {
  const maps = ['/metadata/annotations', '/metadata/labels', ...('data' in before ? ['/data', '/data'] : [])]
  const path = () => `${random.pick(maps)}/${random.pick(['a', 'b.c', 'tier', 'note', '10', 'constructor'])}`
  return Array.from({ length: 1 + random.below(3) }, () =>
    random.pick<ModelOperation>([
      { op: 'add', path: path(), value: random.pick(['x', '']) },
      { op: 'replace', path: path(), value: 'y' },
      { op: 'remove', path: path() },
      { op: 'copy', path: path(), from: path() },
      { op: 'move', path: path(), from: path() },
      { op: 'test', path: path(), value: random.pick<Value>(['1', 'x', '', null]) },
      { op: 'add', path: random.pick(maps), value: { a: 'new' } },
    ]),
  )
}

function anyOperations(random: RandomSource, before: Members): ModelOperation[] {
  return randomOperations(() => random.below(2 ** 32) / 2 ** 32, before).map((one) => textual(random, one))
}

/** Replaces values with strings, because most fields are strings. */
function textual(random: RandomSource, operation: ModelOperation): ModelOperation {
  return operation.op !== 'test' && operation.value !== undefined && random.chance(0.7)
    ? { ...operation, value: random.pick(['x', '', 'y']) }
    : operation
}

function mergeChange({ kind, random }: Target, before: Members, form: string): Change {
  const body = bodyOf(random, random.pick(kind.patches), json)
  const value = sentValue(body)
  const expected =
    value === undefined ? undefined : isMap(value) ? modelMergePatch(before, value) : ('refused' as const)
  return {
    method: 'PATCH',
    type: `application/${form}+json`,
    body,
    ...(expected === undefined ? {} : { expected }),
  }
}

async function tryDelete(target: Target): Promise<Tried> {
  const { client, random } = target
  const before = await client.get(pathOf(target))
  const type = random.pick([json, yaml])
  const body = bodyOf(random, random.pick(deleteOptions), type)
  const path = pathOf(target)
  const answer = await client.send(path, { method: 'DELETE', headers: { 'content-type': type }, raw: body.text })
  const after = await client.get(path)
  const tried = { answer, sent: `DELETE ${path} ${type} ${body.text} on ${before.text}` }
  const done = answer.status === 200 || answer.status === 202
  const fault = done
    ? (faultOfOptions(type, body, before) ?? faultOfDeletion(body, before, after))
    : (faultOfRefusal(answer, [400, 409, 422]) ?? faultOfStored(before, after))
  await renew(target)
  return { ...tried, fault }
}

/** Returns an error if an executed deletion does not match its options and preconditions. */
function faultOfOptions(type: string, body: Body, { body: before }: Answer): string | undefined {
  const value = sentValue(body)
  if (value === undefined) return body.text.length > 0 ? faultOfBody(type, body) : undefined
  const { uid, resourceVersion } = textsAt(value, ['preconditions'])
  const met = (uid ?? before.metadata.uid) === before.metadata.uid
  const same = (resourceVersion ?? before.metadata.resourceVersion) === before.metadata.resourceVersion
  return met && same ? undefined : 'deleted against its preconditions'
}

function faultOfDeletion(body: Body, before: Answer, after: Answer): string | undefined {
  const value = sentValue(body)
  const dry =
    isMap(value) && Object.hasOwn(value, 'dryRun') && Array.isArray(value.dryRun) && value.dryRun.includes('All')
  if (dry) return faultOfStored(before, after)
  const going = after.status === 404 || after.body.metadata.deletionTimestamp !== undefined
  return going || body.value === undefined ? undefined : `it is still there: ${after.text}`
}

test('random bodies are rejected or stored as a simple model predicts', { timeout: 9 * 60_000 }, async (t) => {
  const server = await serve(t, [noControls])
  const client = server.client()
  const assertAlive = survivalCheck(server)
  const atOnce = 16
  const lanes = Array.from({ length: atOnce }, (_, lane) => {
    const random = seeded(seed * 1000 + lane)
    return kinds.map((kind, i): Target => ({ client, kind, name: `f-${lane}-${i}`, random }))
  })
  await Promise.all(lanes.flat().map(renew))
  const counts = Object.fromEntries(Object.keys(ways).map((name) => [name, new Counts()]))
  await everyOne(rounds(150, 50_000), atOnce, async (lane) => {
    const target = lanes[lane]![lanes[lane]![0]!.random.below(kinds.length)]!
    const [name, way] = target.random.pick(Object.entries(ways))
    const { answer, sent, fault } = await way(target)
    counts[name]!.add(answer.status)
    if (fault !== undefined) counts[name]!.wrong(`${sent.slice(0, 3000)}: ${fault}`)
    // Replace the object from time to time, because it may have become impossible to change.
    if (target.random.chance(0.05)) await renew(target)
  })
  for (const [name, count] of Object.entries(counts)) tell(`${name} to a server`, count.reportedCounts())
  assert.deepEqual(
    Object.values(counts).flatMap(({ faults }) => faults),
    [],
  )
  await assertAlive()
})
