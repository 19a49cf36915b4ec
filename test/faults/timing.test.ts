/**
 * Tests that the duration of a secret comparison does not reveal how much of a guess was right. This applies to static
 * tokens, to bootstrap tokens and to the signature of continue tokens. For bootstrap tokens, the duration must also not
 * reveal whether the ID exists. The long variant (ORCH_LONG=1) measures durations: it alternates guesses that differ in
 * the first character with guesses that differ only in the last character, and Welch's t-test must not distinguish them
 * in any of three runs. The short variant checks the implementation, and tests the measurement itself on a leaky
 * comparison.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Lookup, ObjectName, StoredType } from '../../src/api/model/lookup.ts'
import type { ApiObject } from '../../src/api/model/object.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import type { AuthenticationOutcome } from '../../src/apiserver/authn/authenticator.ts'
import { noHeaders } from '../../src/apiserver/authn/authenticator.ts'
import { bootstrapTokens } from '../../src/apiserver/authn/bootstrap-tokens.ts'
import { readTokens, staticTokens } from '../../src/apiserver/authn/static-tokens.ts'
import { ContinueTokens } from '../../src/apiserver/registry/reads/continue-token.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { long } from '../support/long.ts'
import { root } from '../support/server.ts'

const samples = 20_000
const runs = 3
const bound = 4.5
/** Number of calls per sample, because a single call is too short for the clock to measure. */
const callsPerSample = 10

const token = 'S'.repeat(200)
const bootstrapSecret = 's'.repeat(16)
/** Many guesses of each kind are necessary, because the duration of a single guess also depends on its hash. */
const guesses = {
  early: Array.from({ length: 256 }, (_, i) => flat(`${name(i)}${token.slice(4)}`)),
  late: Array.from({ length: 256 }, (_, i) => flat(`${token.slice(0, -4)}${name(i)}`)),
}

/**
 * Returns a flat string, like a string read from a socket, because the internal structure of a string affects the time.
 */
function flat(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function name(i: number): string {
  return i.toString().padStart(4, 'x')
}

test('static tokens are stored and looked up as hashes', () => {
  const users = readTokens(`${token},a,1\nother-token,b,2\n`, () => {})
  const hashes = [token, 'other-token'].map((text) => createHash('sha256').update(text).digest('base64'))
  assert.deepEqual([...users.keys()].sort(), hashes.sort())
})

test('signatures are compared completely and in constant time', () => {
  const source = readFileSync(join(root, 'src/apiserver/registry/reads/continue-token.ts'), 'utf8')
  assert.match(source, /signature\?\.length === expected\.length && timingSafeEqual\(signature, expected\)/)
  const tokens = new ContinueTokens(Buffer.alloc(32, 1))
  const good = tokens.write({ revision: 1, after: 'a' }, 'scope')
  assert.deepEqual(tokens.read(good, 'scope'), { revision: 1, after: 'a' })
  for (const wrong of wrongSignatures(good)) assert.throws(() => tokens.read(wrong, 'scope'), /invalid continue/)
})

test('the secret of a bootstrap token is compared completely even if the token ID is unknown', () => {
  const source = readFileSync(join(root, 'src/apiserver/authn/bootstrap-tokens.ts'), 'utf8')
  assert.match(source, /timingSafeEqual\(hash\('sha256', one, 'buffer'\), hash\('sha256', other, 'buffer'\)\)/)
  const ask = bootstrapAuthenticator(['abcdef'])
  assert.equal((ask(`Bearer abcdef.${bootstrapSecret}`) as AuthenticationOutcome).result, 'user')
  for (const wrong of [`abcdeg.${bootstrapSecret}`, `abcdef.${'t'.repeat(16)}`, 'abcdef.----------------'])
    assert.notEqual((ask(`Bearer ${wrong}`) as AuthenticationOutcome).result, 'user', wrong)
})

test('the timing measurement detects a comparison that stops at the first difference', () => {
  // A leaky comparison that is slow enough to be detected on a busy machine. An eighth of the samples is sufficient to
  // detect it.
  const naive = (guess: string) => {
    let same = 0
    for (let i = 0; i < guess.length && guess[i] === token[i]; i++) same += guess.charCodeAt(i)
    return same
  }
  const tells = () => Math.abs(distinguish({ ...guesses, ask: naive }, samples / 8)) > bound
  assert.ok(tells() || tells() || tells())
})

if (long) {
  test('response times do not reveal a static token', { timeout: 600_000 }, (t) => {
    const users = readTokens(`${token},a,1\n`, () => {})
    const authenticate = staticTokens(() => users)
    const ask = (authorization: string) =>
      authenticate({ certificate: undefined, authorization, headers: noHeaders, connection: {} })
    const headers = (tokens: readonly string[]) => tokens.map((text) => flat(`Bearer ${text}`))
    measure(t, { early: headers(guesses.early), late: headers(guesses.late), ask })
  })

  const ids = guesses.early.map((_, i) => `${name(i)}x0`)
  const bootstrap = bootstrapAuthenticator(ids)
  const headersOf = (tokens: readonly string[]) => tokens.map((text) => flat(`Bearer ${text}`))

  test('response times do not reveal the secret of a bootstrap token', { timeout: 600_000 }, (t) => {
    const early = headersOf(ids.map((id) => `${id}.0${bootstrapSecret.slice(1)}`))
    const late = headersOf(ids.map((id) => `${id}.${bootstrapSecret.slice(0, -1)}0`))
    measure(t, { early, late, ask: bootstrap })
  })

  test('response times do not reveal the ID of a bootstrap token', { timeout: 600_000 }, (t) => {
    const early = headersOf(ids.map((id) => `${id.slice(0, -1)}1.${bootstrapSecret.slice(0, -1)}0`))
    const late = headersOf(ids.map((id) => `${id}.${bootstrapSecret.slice(0, -1)}0`))
    measure(t, { early, late, ask: bootstrap })
  })

  test('response times do not reveal the signature of a continue token', { timeout: 600_000 }, (t) => {
    const tokens = new ContinueTokens(randomBytes(32))
    const pairs = guesses.early.map((after) => wrongSignatures(tokens.write({ revision: 1, after }, 'scope')))
    const ask = (guess: string) => {
      try {
        return tokens.read(guess, 'scope')
      } catch {
        return undefined
      }
    }
    measure(t, { early: pairs.map(([early]) => early!), late: pairs.map(([, late]) => late!), ask })
  })
}

/** Returns an authenticator that knows these IDs, each with the same secret. */
function bootstrapAuthenticator(ids: readonly string[]): (authorization: string) => unknown {
  const found = new Map(
    ids.map((id) => [`bootstrap-token-${id}`, { key: '', revision: 1, object: bootstrapObject(id) }]),
  )
  const authenticate = bootstrapTokens({
    vendor: vendorOf('orch'),
    lookup: { getLatest: (_: StoredType<unknown>, { name }: ObjectName) => found.get(name) } as Pick<
      Lookup,
      'getLatest'
    >,
    clock: systemClock,
    namespace: 'kube-system',
  })
  return (authorization) => authenticate({ certificate: undefined, authorization, headers: noHeaders, connection: {} })
}

function bootstrapObject(id: string): ApiObject {
  const text = (value: string) => Buffer.from(value).toString('base64')
  const data = {
    'token-id': text(id),
    'token-secret': text(bootstrapSecret),
    'usage-bootstrap-authentication': text('true'),
  }
  const metadata = { name: `bootstrap-token-${id}`, namespace: 'kube-system' }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'bootstrap.orch.io/token', data }
}

/**
 * Returns two copies of the token: one in which the first byte of the signature is changed, and one in which the last
 * byte is changed.
 */
function wrongSignatures(good: string): string[] {
  const [payload, text] = good.split('.')
  const signature = Buffer.from(text!, 'base64url')
  return [0, signature.length - 1].map((place) => {
    const changed = Buffer.from(signature)
    changed[place]! ^= 1
    return `${payload}.${changed.toString('base64url')}`
  })
}

interface Classes {
  readonly early: readonly string[]
  readonly late: readonly string[]
  readonly ask: (guess: string) => unknown
}

function measure(t: { diagnostic(text: string): void }, classes: Classes): void {
  distinguish(classes, samples / 4)
  const found = Array.from({ length: runs }, () => distinguish(classes, samples))
  t.diagnostic(`t = ${found.map((value) => value.toFixed(2)).join(', ')} over ${samples} samples each`)
  assert.ok(
    found.every((value) => Math.abs(value) < bound),
    found.join(', '),
  )
}

/**
 * Returns Welch's t for the two kinds of durations, which are measured alternately in random order. Excludes the
 * slowest tenth of the durations, because they include the time of other programs.
 */
function distinguish({ early, late, ask }: Classes, count: number): number {
  const times: { early: number[]; late: number[] } = { early: [], late: [] }
  for (const [i, coin] of randomBytes(count).entries()) {
    const order = coin & 1 ? (['early', 'late'] as const) : (['late', 'early'] as const)
    for (const name of order) times[name].push(timeOf(name === 'early' ? early : late, i, ask))
  }
  const limit = [...times.early, ...times.late].sort((a, b) => a - b)[Math.floor(count * 2 * 0.9)]!
  return welch(
    times.early.filter((time) => time <= limit),
    times.late.filter((time) => time <= limit),
  )
}

function timeOf(guesses: readonly string[], from: number, ask: (guess: string) => unknown): number {
  const start = process.hrtime.bigint()
  for (let i = 0; i < callsPerSample; i++) ask(guesses[(from + i) % guesses.length]!)
  return Number(process.hrtime.bigint() - start)
}

function welch(a: readonly number[], b: readonly number[]): number {
  const one = moments(a)
  const other = moments(b)
  return (one.mean - other.mean) / Math.sqrt(one.variance / a.length + other.variance / b.length)
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, variance }
}
