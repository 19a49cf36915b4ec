/**
 * Creates the CustomResourceDefinitions of KWOK's kinds. Existing definitions, such as those that KWOK itself
 * installed, are left unchanged.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { atStart } from '../../../client/reconcile/sources.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { definitionOf, kwokKinds } from './kinds.ts'

export interface InstallParts {
  /** Client with permission to create CustomResourceDefinitions. */
  readonly client: Client
  readonly vendor: Vendor
  /** Called when all kinds are served. */
  readonly onInstalled: () => void
}

/** Returns the loop that creates the missing definitions and waits until their kinds are served. */
export function installKwokKindsLoop({ client, vendor, onInstalled }: InstallParts): Loop {
  const type = inDomainOf(vendor, kinds.CustomResourceDefinition)
  const missing = new Set(Object.values(kwokKinds).map(({ plural }) => plural))
  const created = new Set<string>()
  return {
    name: 'kwok-kinds',
    sources: [atStart(...missing)],
    concurrency: 1,
    backoff: { firstMs: 20, longestMs: 10_000 },
    reconcile: async (plural, signal) => {
      const kind = Object.values(kwokKinds).find((each) => each.plural === plural)!
      const definition = definitionOf(kind, vendor) as unknown as kinds.CustomResourceDefinition
      if (!created.has(plural)) {
        await createIfMissing(client.create(type, definition, { signal }))
        created.add(plural)
      }
      const { status } = await client.get(type, { name: definition.metadata.name! }, { signal })
      const isServed = status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True')
      if (!isServed) return 'later'
      missing.delete(plural)
      if (missing.size === 0) onInstalled()
      return 'done'
    },
  }
}

/** Waits for a create request. Ignores the error if the object already exists. */
async function createIfMissing(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
  }
}
