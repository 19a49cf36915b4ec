/** Tests renewal in a running server, with a manual clock and timer. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type CertifiedKey, openAuthority } from '../../../src/api/pki/authority.ts'
import { type RenewalOptions, renewWhenDue } from '../../../src/api/pki/renewal.ts'
import { day, now } from './issue.ts'
import { temporaryDirectory } from './openssl.ts'

const names = { dns: ['localhost'], ips: [] }

/** Returns a renewal whose checks the test triggers one by one, and the certificates that the renewal has installed. */
async function renewal(
  t: TestContext,
  { onServing, ...changes }: Partial<RenewalOptions> & { onServing?: (pair: CertifiedKey) => void } = {},
) {
  const clock = { time: now, now: () => clock.time, monotonic: () => 0 }
  const directory = temporaryDirectory(t)
  const authority = await openAuthority({ directory, clock })
  const current = { serving: await authority.servingCertificate(names), admin: await authority.adminCertificate() }
  const abort = new AbortController()
  const seen = { serving: [] as CertifiedKey[], admin: [] as CertifiedKey[], errors: [] as unknown[] }
  const waiting: (() => Promise<void>)[] = []
  renewWhenDue({
    pairs: [
      {
        current: current.serving,
        read: () => authority.servingCertificate(names),
        use: onServing ?? ((pair) => void seen.serving.push(pair)),
      },
      {
        current: current.admin,
        read: () => authority.adminCertificate(),
        use: (pair) => void seen.admin.push(pair),
      },
    ],
    onError: (error) => void seen.errors.push(error),
    signal: abort.signal,
    schedule: (run) => {
      waiting.push(run)
      return () => void waiting.splice(waiting.indexOf(run), 1)
    },
    ...changes,
  })
  const turn = async () => {
    assert.equal(waiting.length, 1)
    await waiting.shift()?.()
  }
  return { clock, directory, authority, current, abort, seen, waiting, turn }
}

test('a certificate that is due for renewal is renewed and installed exactly once', async (t) => {
  const { clock, authority, seen, turn } = await renewal(t)
  await turn()
  assert.deepEqual([seen.serving.length, seen.admin.length], [0, 0])
  clock.time = now + 300 * day
  await turn()
  await turn()
  assert.deepEqual(seen, {
    serving: [await authority.servingCertificate(names)],
    admin: [await authority.adminCertificate()],
    errors: [],
  })
})

test('a certificate renewed by another process is installed', async (t) => {
  const { clock, directory, seen, turn } = await renewal(t)
  const later = { now: () => now + 300 * day, monotonic: () => 0 }
  const other = await openAuthority({ directory, clock: later })
  const renewed = await other.servingCertificate(names)
  clock.time = now + 301 * day
  await turn()
  assert.deepEqual(seen.serving, [renewed])
})

test('a failed certificate renewal is reported and retried, and the other certificate is still checked', async (t) => {
  const { clock, directory, seen, turn } = await renewal(t)
  clock.time = now + 300 * day
  writeFileSync(join(directory, 'serving.crt'), 'damaged')
  await turn()
  assert.deepEqual([seen.serving.length, seen.admin.length, seen.errors.length], [0, 1, 1])
  assert.match(String(seen.errors[0]), /serving\.crt/)
  rmSync(join(directory, 'serving.crt'))
  await turn()
  assert.deepEqual([seen.serving.length, seen.admin.length, seen.errors.length], [1, 1, 1])
})

test('a certificate whose installation failed is installed at the next check', async (t) => {
  const offered: CertifiedKey[] = []
  const onServing = (pair: CertifiedKey) => {
    if (offered.push(pair) === 1) throw new Error('not now')
  }
  const { clock, seen, turn } = await renewal(t, { onServing })
  clock.time = now + 300 * day
  for (let i = 0; i < 3; i++) await turn()
  assert.equal(offered.length, 2)
  assert.equal(offered[0]?.certificate, offered[1]?.certificate)
  assert.equal(seen.errors.length, 1)
})

test('aborting the signal stops certificate renewal in every phase', async (t) => {
  const idle = await renewal(t)
  idle.abort.abort()
  assert.equal(idle.waiting.length, 0)

  const busy = await renewal(t)
  busy.clock.time = now + 300 * day
  const turn = busy.turn()
  busy.abort.abort()
  await turn
  assert.equal(busy.waiting.length, 0)
  assert.equal(busy.seen.admin.length, 0)

  assert.equal((await renewal(t, { signal: AbortSignal.abort() })).waiting.length, 0)
})
