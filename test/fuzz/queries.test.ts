/**
 * Tests random and damaged queries sent to a real server: lists, watches and gets of known objects. The response
 * must match the model (`query-model.ts`): the code, the Status and the names. At the end, the server must still be the
 * same process.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { noControls } from '../support/accounts.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'
import { serve } from '../support/in-process.ts'
import { survivalCheck } from '../support/survival-check.ts'
import { Counts, everyOne, faultOfStatus } from './answers.ts'
import { damaged } from './documents.ts'
import { judge, type Life, type Place, scopeOf, type Token, type Verdict, type World } from './query-model.ts'
import { rounds, seed, tell } from './scale.ts'

interface Kind {
  readonly plural: string
  readonly body: (random: RandomSource) => object
  /** The selectable fields of the kind besides metadata. */
  readonly fields: readonly string[]
}

const image = 'registry.local/a:1'
const kinds: readonly Kind[] = [
  { plural: 'configmaps', body: () => ({ data: { a: '1' } }), fields: [] },
  {
    plural: 'secrets',
    body: (random) => ({ type: random.pick(['Opaque', 'orch.io/x', 'a,b=c\\d']) }),
    fields: ['type'],
  },
  {
    plural: 'pods',
    body: (random) => ({
      spec: {
        nodeName: random.pick(['n1', 'n2', '']),
        restartPolicy: random.pick(['Always', 'Never']),
        containers: [{ name: 'a', image }],
      },
    }),
    fields: ['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'],
  },
]
// One namespace is a prefix of another namespace, and some names are prefixes of other names.
const namespaces = ['q', 'q-r', 'q.r']
const names = ['a', 'a-b', 'a.b', 'ab', 'b', 'constructor', 'x0']
const labelKeys = ['a', 'b', 'x.io/c', 'constructor']
const labelValues = ['', '1', '22', 'x', 'y-z']

async function makeNamespaces(client: HttpClient): Promise<void> {
  for (const name of namespaces.filter((one) => !one.includes('.')))
    assert.equal((await client.post('/api/v1/namespaces', { metadata: { name } })).status, 201)
}

/** Creates objects of one kind, one after another, and deletes every third one. */
async function makeWorld(client: HttpClient, kind: Kind, random: RandomSource): Promise<World> {
  const lives = await livesOf(client, kind)
  for (const namespace of namespaces.filter((one) => !one.includes('.')))
    for (const name of names) {
      const path = `/api/v1/namespaces/${namespace}/${kind.plural}`
      const labels = Object.fromEntries(
        labelKeys.filter(() => random.chance(0.5)).map((key) => [key, random.pick(labelValues)]),
      )
      const made = await client.post(path, { metadata: { name, labels }, ...kind.body(random) })
      assert.equal(made.status, 201, made.text)
      const { metadata } = made.body
      const fields = Object.fromEntries(kind.fields.map((field) => [field, valueAt(made.body, field)]))
      const life = { name, namespace, labels, fields, born: Number(metadata.resourceVersion) }
      if (!random.chance(0.3)) lives.push(life)
      else lives.push({ ...life, gone: await removed(client, `${path}/${name}`, kind.plural) })
    }
  const { metadata } = (await client.get(`/api/v1/${kind.plural}`)).body
  const newest = Number(metadata.resourceVersion)
  return { lives, newest, selectable: ['metadata.name', 'metadata.namespace', ...kind.fields] }
}

/** Returns the objects that the server creates itself. */
async function livesOf(client: HttpClient, { plural, fields }: Kind): Promise<Life[]> {
  const { items } = (await client.get(`/api/v1/${plural}`)).body
  return items.map(
    (object: { metadata: { name: string; namespace: string; labels?: object; resourceVersion: string } }) => {
      const { name, namespace, labels = {}, resourceVersion } = object.metadata
      const values = Object.fromEntries(fields.map((field) => [field, valueAt(object, field)]))
      return { name, namespace, labels, fields: values, born: Number(resourceVersion) }
    },
  )
}

/**
 * Returns the version of a deletion. No other client writes to the collection, so this is the version of the collection
 * right after the deletion.
 */
async function removed(client: HttpClient, path: string, plural: string): Promise<number> {
  assert.equal((await client.delete(path, { gracePeriodSeconds: 0 })).status, 200)
  return Number((await client.get(`/api/v1/${plural}`)).body.metadata.resourceVersion)
}

function valueAt(object: unknown, path: string): string {
  let value = object
  for (const name of path.split('.')) value = (value as { [name: string]: unknown } | undefined)?.[name]
  return value === undefined ? '' : String(value)
}

// Queries

function randomQuery(random: RandomSource, world: World, tokens: ReadonlyMap<string, Token>): URLSearchParams {
  const query = new URLSearchParams()
  const wholes = ['0', '1', '2', '3', '500', '-1', '9223372036854775807', '9223372036854775808', '1e3', '', ' 1', '0x1']
  const version = () => String(random.chance(0.02) ? world.newest + 1_000_000 : random.below(world.newest + 1))
  const some: readonly (readonly [name: string, share: number, value: () => string])[] = [
    ['labelSelector', 0.4, () => list(random, () => labelTerm(random))],
    ['fieldSelector', 0.3, () => list(random, () => fieldTerm(random, world))],
    ['limit', 0.4, () => random.pick(random.chance(0.8) ? wholes.slice(0, 5) : wholes)],
    [
      'resourceVersion',
      0.3,
      () => (random.chance(0.9) ? version() : random.pick(['abc', '-1', '1.5', '01', ' 1', '٣'])),
    ],
    ['resourceVersionMatch', 0.15, () => random.pick(['Exact', 'NotOlderThan', 'NotOlderThan', 'exact', ''])],
    ['continue', 0.1, () => random.pick([...tokens.keys(), 'garbage', 'e30.e30', ''])],
    ['timeoutSeconds', 0.1, () => random.pick(wholes)],
    ['timeout', 0.05, () => random.pick(['30s', '1m', '0', '', 'abc', '-1s', '1h1m', '1e9s'])],
    ['watch', 0.03, () => random.pick(['1', 'true', '', 'yes', 'false', '0', 'FALSE'])],
    ['watch', 0.005, () => 'false'],
    ['allowWatchBookmarks', 0.02, () => 'x'],
    ['fieldValidation', 0.03, () => random.pick(['Strict', 'Bogus'])],
    ['dryRun', 0.03, () => random.pick(['All', 'None'])],
    ['__proto__', 0.02, () => '1'],
  ]
  for (const [name, share, value] of some) if (random.chance(share)) query.append(name, value())
  return query
}

const list = (random: RandomSource, one: () => string) => Array.from({ length: 1 + random.below(3) }, one).join()

function labelTerm(random: RandomSource): string {
  const key = random.pick(labelKeys)
  const value = random.pick(labelValues)
  const other = random.pick(labelValues)
  const gap = () => random.pick(['', '', ' ', '\t'])
  return random.pick([
    key,
    `!${gap()}${key}`,
    `${key}${gap()}=${gap()}${value}`,
    `${key}==${value}`,
    `${key}${gap()}!=${value}`,
    `${key}${gap()}>${gap()}1`,
    `${key}<22`,
    `${key} in ${gap()}(${value}${gap()},${other})`,
    `${key} notin (${gap()}${value})`,
  ])
}

function fieldTerm(random: RandomSource, { selectable, lives }: World): string {
  const path = random.chance(0.95) ? random.pick(selectable) : random.pick(['spec.x', 'metadata', '__proto__', ''])
  const { name, namespace, fields } = random.pick(lives)
  const values = new Map([...Object.entries(fields), ['metadata.name', name], ['metadata.namespace', namespace]])
  const value = values.get(path) ?? 'x'
  const escaped = random.chance(0.9) ? value.replaceAll(/[\\,=]/g, '\\$&') : value
  return `${path}${random.pick(['=', '==', '!='])}${escaped}`
}

/** Returns the text of a query, sometimes damaged before or after its values are escaped. */
function sentText(random: RandomSource, query: URLSearchParams): string {
  if (query.size > 0 && random.chance(0.25)) {
    const name = random.pick([...query.keys()])
    query.set(name, damaged(random, query.get(name)!).toString())
  }
  const text = query.toString()
  if (!random.chance(0.1)) return text
  // Escapes characters that are invalid in a request target. Other tests cover such characters.
  return damaged(random, text)
    .toString('latin1')
    .replaceAll(/[^!-"$-~]/g, (unit) => encodeURIComponent(unit))
}

/** Limits the timeout of a long watch to one second. */
function shortened(text: string): string {
  const query = new URLSearchParams(text)
  const watch = query.get('watch')
  if (watch === null || /^(?:0|false)$/i.test(watch)) return text
  if (!/^-?\d{1,19}$/.test(query.get('timeoutSeconds') ?? '1')) return text
  query.set('timeoutSeconds', '1')
  return query.toString()
}

// Responses

function faultOf(answer: Answer, verdict: Verdict): string | undefined {
  const { status, text } = answer
  if (!verdict.codes.has(status))
    return `${status} instead of ${[...verdict.codes].join(' or ')}: ${text.slice(0, 300)}`
  if (status !== 200) return faultOfStatus(answer)
  if (verdict.expectedNames === undefined) return undefined
  return verdict.watch
    ? faultOfEvents(text, verdict.expectedNames)
    : faultOfList(answer, verdict.expectedNames, verdict.limit)
}

function faultOfEvents(text: string, expected: readonly string[]): string | undefined {
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    // A deleted pod first causes a MODIFIED event with a deletionTimestamp.
    .filter(({ type, object }) => type !== 'BOOKMARK' && !(type === 'MODIFIED' && object.metadata.deletionTimestamp))
    .map(({ type, object }) => `${type} ${object.metadata?.name}`)
  return same(events, expected)
}

function faultOfList({ body }: Answer, expected: readonly string[], limit: number): string | undefined {
  const found = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  const page = limit > 0 ? expected.slice(0, limit) : expected
  const more = page.length < expected.length
  return same(found, page) ?? (more === (body.metadata.continue !== undefined) ? undefined : 'a wrong continue token')
}

function same(found: readonly string[], expected: readonly string[]): string | undefined {
  return found.join() === expected.join() ? undefined : `told ${found.join()} instead of ${expected.join()}`
}

test('random queries return what a simple model predicts', { timeout: 9 * 60_000 }, async (t) => {
  const server = await serve(t, ['--history-duration=1h', noControls])
  const client = server.client()
  const assertAlive = survivalCheck(server)
  const random = seeded(seed + 10)
  await makeNamespaces(client)
  const worlds = new Map<Kind, World>()
  for (const kind of kinds) worlds.set(kind, await makeWorld(client, kind, random))
  const newest = Math.max(...[...worlds.values()].map((world) => world.newest))
  const tokens = new Map<Kind, Map<string, Token>>(kinds.map((kind) => [kind, new Map()]))
  const counts = new Counts()
  await everyOne(rounds(200, 120_000), 48, async () => {
    const kind = random.pick(kinds)
    const world = { ...worlds.get(kind)!, newest }
    const existing = tokens.get(kind)!
    const place: Place = {
      namespace: random.pick([...namespaces, '']),
      name: random.chance(0.1) ? random.pick([...names, 'nobody']) : '',
    }
    const at = place.namespace === '' ? { ...place, name: '' } : place
    const text = shortened(sentText(random, randomQuery(random, world, existing)))
    const query = new URLSearchParams(text)
    const verdict = judge(world, at, query, existing)
    const scope = at.namespace === '' ? '' : `namespaces/${at.namespace}/`
    const path = `/api/v1/${scope}${kind.plural}${at.name === '' ? '' : `/${at.name}`}?${text}`
    const answer = await client.send(path)
    counts.add(answer.status)
    const fault = faultOf(answer, verdict)
    if (fault !== undefined) counts.wrong(`GET ${path}: ${fault}`)
    else if (answer.status === 200 && !verdict.watch && at.name === '')
      remember(existing, at, query, { answer, verdict })
  })
  tell('queries to a server', counts.reportedCounts())
  assert.deepEqual(counts.faults, [])
  await assertAlive()
})

/** Remembers continue tokens from the server, to send them in requests for their own list and for other lists. */
function remember(
  tokens: Map<string, Token>,
  place: Place,
  query: URLSearchParams,
  { answer, verdict }: { answer: Answer; verdict: Verdict },
): void {
  const token = answer.body.metadata.continue
  if (token === undefined || verdict.expectedNames === undefined || tokens.size >= 50) return
  tokens.set(token, { scope: scopeOf(place, query), rest: verdict.expectedNames.slice(verdict.limit) })
}
