/** Service accounts for the pods of a test. Without control loops, no default account is created in a namespace. */
import assert from 'node:assert/strict'
import type { HttpClient } from './http-client.ts'

/** Creates a default account whose pods get no token, so that they stay unchanged. */
export async function giveAccount(client: HttpClient, namespace = 'default'): Promise<void> {
  const account = { metadata: { name: 'default' }, automountServiceAccountToken: false }
  const { status, text } = await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, account)
  assert.equal(status, 201, text)
}

/** For tests of kinds alone: disables controls that change objects or require other objects. */
export const noControls =
  '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,DefaultTolerationSeconds,StorageObjectInUseProtection,RuntimeClass,LimitRanger,ResourceQuota,MutatingAdmissionWebhook,ValidatingAdmissionWebhook'
