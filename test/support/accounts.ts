/**
 * Creates service accounts for the pods of a test. Without control loops, a namespace has no default service account.
 */
import assert from 'node:assert/strict'
import type { HttpClient } from './http-client.ts'

/** Creates a default service account whose pods get no token, so that the server does not change them. */
export async function giveAccount(client: HttpClient, namespace = 'default'): Promise<void> {
  const account = { metadata: { name: 'default' }, automountServiceAccountToken: false }
  const { status, text } = await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, account)
  assert.equal(status, 201, text)
}

/** Flags that disable admission plugins that change objects or require other objects, for tests of individual kinds. */
export const noControls =
  '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,DefaultTolerationSeconds,StorageObjectInUseProtection,RuntimeClass,LimitRanger,ResourceQuota,MutatingAdmissionWebhook,ValidatingAdmissionWebhook'
