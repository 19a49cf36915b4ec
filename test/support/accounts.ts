/** Accounts for the pods of a test: without control loops nobody makes the default account of a namespace. */
import assert from 'node:assert/strict'
import type { HttpClient } from './http-client.ts'

/** A default account whose pods get no token, so that they stay as they were sent. */
export async function giveAccount(client: HttpClient, namespace = 'default'): Promise<void> {
  const account = { metadata: { name: 'default' }, automountServiceAccountToken: false }
  const { status, text } = await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, account)
  assert.equal(status, 201, text)
}

/** For tests of kinds alone: nothing is added to what is sent, and nothing that others must have made is asked for. */
export const noControls =
  '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,DefaultTolerationSeconds,StorageObjectInUseProtection,RuntimeClass,LimitRanger,ResourceQuota,MutatingAdmissionWebhook,ValidatingAdmissionWebhook'
