/**
 * Tests which labels a webhook's namespaceSelector is evaluated against, and whether the write depends on these labels.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lookup, StoredObject } from '../../../../src/api/model/lookup.ts'
import type { AdmissionRequest } from '../../../../src/apiserver/admission/admission.ts'
import { isSelected } from '../../../../src/apiserver/admission/webhook/select-webhooks.ts'
import { compileConfiguration } from '../../../../src/apiserver/admission/webhook/webhook.ts'
import { systemClock } from '../../../../src/base/time/clock.ts'

const selector = { matchLabels: { hooked: 'yes' } }
const configuration = { metadata: { name: 'c' }, webhooks: [{ name: 'w', namespaceSelector: selector }] }
const [webhook] = compileConfiguration(configuration as never, 'validating', systemClock)

/** Returns the namespace `n` with these labels at this revision. */
function namespaceAt(revision: number, labels: { readonly [key: string]: string }): StoredObject {
  return { key: 'n', revision, object: { metadata: { name: 'n', labels } } } as unknown as StoredObject
}

// Another server has removed the label, but the cache of this server still contains the label.
const stale = namespaceAt(1, { hooked: 'yes' })
const latest = namespaceAt(2, {})
const lookup = { getCached: () => stale, getLatest: async () => latest } as unknown as Lookup

async function select(request: object): Promise<{ isMatch: boolean; dependencies: unknown[] }> {
  const dependencies: unknown[] = []
  const dependOn = (state: unknown) => dependencies.push(state)
  const isMatch = await isSelected(webhook!, { ...request, dependOn } as unknown as AdmissionRequest, lookup)
  return { isMatch, dependencies }
}

const namespaces = { group: '', plural: 'namespaces' }

test('the labels of the namespace decide whether a webhook matches a write in the namespace', async () => {
  const request = { type: { group: '', plural: 'configmaps' }, subresource: '', namespace: 'n', name: 'a' }
  assert.deepEqual(await select(request), { isMatch: true, dependencies: [stale] })
})

test('the latest stored labels decide whether a webhook matches a deletion or status write of a namespace', async () => {
  for (const namespace of ['', 'n']) {
    const deletion = { type: namespaces, subresource: '', namespace, name: 'n', object: undefined }
    assert.deepEqual(await select(deletion), { isMatch: false, dependencies: [] })
    const status = { type: namespaces, subresource: 'status', namespace, name: 'n', object: stale.object }
    assert.deepEqual(await select(status), { isMatch: false, dependencies: [] })
  }
})

test('the new labels decide whether a webhook matches an update of a namespace', async () => {
  const update = { type: namespaces, subresource: '', namespace: '', name: 'n', object: stale.object }
  assert.deepEqual(await select(update), { isMatch: true, dependencies: [] })
})
