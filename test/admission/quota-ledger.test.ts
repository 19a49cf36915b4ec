/** The ledger of quotas: what comes together is stored together, but charges and what is given back never cancel out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ledger } from '../../src/admission/quota/ledger.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ApiObject } from '../../src/model/object.ts'
import { negative, readAmounts } from '../../src/model/quota/amounts.ts'

const quota = { namespace: 'n', name: 'q' }
const pods = (number: string) => readAmounts({ pods: number })

/** A ledger over one quota in memory, and what was in use after each change that was stored. */
function open(hard: string, used: string) {
  const stored: unknown[] = []
  let status: JsonObject = { hard: { pods: hard }, used: { pods: used } }
  const changeStatus = async (_type: unknown, _name: unknown, next: (object: ApiObject) => JsonObject) => {
    await Promise.resolve()
    status = next({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, status })
    stored.push((status.used as JsonObject).pods)
  }
  return { ledger: new Ledger({ changeStatus }), stored }
}

test('a charge is seen in what is in use, whatever is given back at the same time', async () => {
  const { ledger, stored } = open('10', '5')
  const first = ledger.charge(quota, pods('1'))
  const together = [
    ledger.charge(quota, pods('1')),
    ledger.adjust(quota, negative(pods('2'))),
    ledger.charge(quota, pods('1')),
  ]
  assert.deepEqual(await Promise.all([first, ...together]), [undefined, undefined, undefined, undefined])
  assert.deepEqual(stored, ['6', '4', '6'])
})

test('what is given back makes room for what is charged with it', async () => {
  const { ledger, stored } = open('5', '5')
  const [refused, charged] = await Promise.all([
    ledger.charge(quota, pods('1')),
    ledger.charge(quota, pods('1')),
    ledger.adjust(quota, negative(pods('1'))),
  ])
  assert.match(refused!, /exceeded quota: q/)
  assert.equal(charged, undefined)
  assert.deepEqual(stored, ['5', '4', '5'])
})
