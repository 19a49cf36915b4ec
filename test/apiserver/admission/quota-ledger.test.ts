/**
 * Tests the quota ledger: concurrent changes are stored in one write, but a charge and a refund never cancel each
 * other out.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { notFound } from '../../../src/api/model/api-error.ts'
import { negative, readAmounts } from '../../../src/api/model/quota/amounts.ts'
import type { ReservedKey } from '../../../src/apiserver/admission/commit-terms.ts'
import type { OwnWrites, StatusChange } from '../../../src/apiserver/admission/own-writes.ts'
import { Ledger } from '../../../src/apiserver/admission/quota/ledger.ts'
import { newRefundKey, type PendingRefund, readRefund } from '../../../src/apiserver/admission/quota/pending-refunds.ts'

const quota = { namespace: 'n', name: 'q' }
const pods = (number: string) => readAmounts({ pods: number })
const owed = (number: string): PendingRefund => ({
  key: newRefundKey(quota),
  quota,
  uid: 'u',
  change: negative(pods(number)),
})

/**
 * Returns a ledger for an in-memory quota, the usage of the quota after each stored change, and the pending refunds.
 */
function open(hard: string, used: string, refunds: readonly PendingRefund[] = []) {
  const stored: unknown[] = []
  const records = new Map<string, ReservedKey>()
  const put = (key: string, value: Uint8Array = Buffer.alloc(0)) => records.set(key, { key, value })
  for (const { key } of refunds) put(key)
  const now = { status: { hard: { pods: hard }, used: { pods: used } } as JsonObject, uid: 'u', gone: false }
  const writes: Pick<OwnWrites, 'changeStatus' | 'reservedKeys' | 'release'> = {
    changeStatus: async (_type, _name, next) => {
      await Promise.resolve()
      if (now.gone) throw notFound({ group: '', plural: 'resourcequotas' }, 'q')
      const metadata = { name: 'q', namespace: 'n', uid: now.uid }
      const object = () => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, status: now.status })
      const missing = (change: StatusChange) => change.guards.some(({ key }) => !records.has(key))
      let change = await next(object())
      if (missing(change)) change = await next(object())
      assert.ok(!missing(change))
      for (const key of change.releases) records.delete(key)
      for (const { key, value } of change.reserves) put(key, value)
      now.status = change.status
      stored.push((now.status.used as JsonObject).pods)
    },
    reservedKeys: async () => [...records.values()],
    release: async (key) => void records.delete(key),
  }
  return { ledger: new Ledger(writes), stored, records, now }
}

test('a quota charge is not lost if a refund happens concurrently', async () => {
  const refund = owed('2')
  const { ledger, stored, records } = open('10', '5', [refund])
  const outcomes = await Promise.all([
    ledger.charge(quota, pods('1')),
    ledger.charge(quota, pods('1')),
    ledger.refund(refund),
    ledger.charge(quota, pods('1')),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => outcome && 'refund' in outcome),
    [true, true, undefined, true],
  )
  assert.deepEqual(stored, ['6', '4', '6'])
  const left = [...records.values()].map((entry) => readRefund(entry))
  assert.deepEqual(
    left.map(({ uid, change }) => [uid, change.get('pods')?.nanos]),
    Array(3).fill(['u', -1_000_000_000n]),
    'each charge is owed until the object is stored',
  )
})

test('a refund makes room for a concurrent charge', async () => {
  const refund = owed('1')
  const { ledger, stored } = open('5', '5', [refund])
  const [refused, charged] = await Promise.all([
    ledger.charge(quota, pods('1')),
    ledger.charge(quota, pods('1')),
    ledger.refund(refund),
  ])
  assert.match('refused' in refused! ? refused.refused : '', /exceeded quota: q/)
  assert.ok('refund' in charged!)
  assert.deepEqual(stored, ['5', '4', '5'])
})

test('a quota charge with an unknown outcome is refunded only once, and only to its own quota', async () => {
  const one = owed('1')
  const two = owed('2')
  const other = { ...owed('4'), uid: 'of another that had the name' }
  const { ledger, records, now } = open('10', '9', [two, other])
  await Promise.all([ledger.refund(one), ledger.refund(two), ledger.refund(other), ledger.refund(two)])
  assert.deepEqual(now.status.used, { pods: '7' })
  assert.equal(records.size, 0)
})

test('deleting a quota also deletes its charges whose outcome is unknown', async () => {
  const refund = owed('1')
  const { ledger, records, now } = open('10', '9', [refund])
  now.gone = true
  await ledger.refund(refund)
  assert.deepEqual(await ledger.charge(quota, pods('1')), { refund: undefined })
  assert.equal(records.size, 0)
})
