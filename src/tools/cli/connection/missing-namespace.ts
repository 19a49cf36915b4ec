/** Reports a missing namespace as the cause of a NotFound error, as kubectl does. */
import type { Client } from '../../../client/requests/client.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { SeveralErrors } from '../program/explain-error.ts'

const inNamespace = /^\w+ \/apis?\/.*?\/namespaces\/([^/]+)\/./

/**
 * Replaces a NotFound error with one about the namespace, if the namespace itself is missing. The default namespace
 * always exists.
 */
export async function withMissingNamespace(client: Client, error: unknown, signal: AbortSignal): Promise<unknown> {
  const errors = error instanceof SeveralErrors ? error.errors : [error]
  const namespaces = new Set(errors.flatMap(namespaceOf))
  if (namespaces.size === 0) return error
  const missing = new Map<string, unknown>()
  for (const name of namespaces) {
    const refusal = await refusalOf(client, name, signal)
    if (isNotFound(refusal)) missing.set(name, refusal)
  }
  const reasons = new Set(errors.map((one) => missing.get(namespaceOf(one)[0] ?? '') ?? one))
  return reasons.size === 1 ? [...reasons][0] : new SeveralErrors([...reasons])
}

/** Users without permission to read the namespace get the original error. */
async function refusalOf(client: Client, name: string, signal: AbortSignal): Promise<StatusError | undefined> {
  try {
    await client.read(`/api/v1/namespaces/${name}`, { signal })
    return undefined
  } catch (refusal) {
    if (refusal instanceof StatusError) return refusal
    throw refusal
  }
}

function namespaceOf(error: unknown): string[] {
  if (!(error instanceof StatusError) || !isNotFound(error) || error.status.details?.kind === 'namespaces') return []
  const name = inNamespace.exec(error.request)?.[1]
  return name === undefined || name === 'default' ? [] : [name]
}
