/**
 * Creates the service account `default` in every namespace that is not terminating, and recreates it if it is deleted.
 * Pods that do not specify an account use this account.
 */

import type { Namespace } from '../../api/kinds/core/namespace.ts'
import type { ServiceAccount } from '../../api/kinds/core/service-account.ts'
import { defaultAccount } from '../../api/model/service-account.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { isIgnorableCreateError } from './ignorable-create-error.ts'

export interface ServiceAccountLoopParts {
  readonly client: Client
  readonly namespaces: Informer<Namespace>
  readonly accounts: Informer<ServiceAccount>
}

export function serviceAccountLoop(parts: ServiceAccountLoopParts): Loop {
  return {
    name: 'serviceaccount',
    sources: [
      fromInformer(parts.namespaces),
      fromInformer(parts.accounts, ({ previous, object }) => {
        const { name, namespace = '' } = (object ?? previous)!.metadata
        return name === defaultAccount ? [namespace] : []
      }),
    ],
    reconcile: (namespace, signal) => reconcile(parts, namespace, signal),
  }
}

async function reconcile(parts: ServiceAccountLoopParts, namespace: string, signal: AbortSignal): Promise<StepOutcome> {
  const namespaceObject = parts.namespaces.get({ name: namespace })
  if (namespaceObject === undefined || namespaceObject.metadata.deletionTimestamp !== undefined) return 'done'
  if (parts.accounts.get({ namespace, name: defaultAccount }) !== undefined) return 'done'
  const metadata = { name: defaultAccount, namespace }
  try {
    await parts.client.create(kinds.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, { signal })
  } catch (error) {
    if (!isIgnorableCreateError(error)) throw error
  }
  return 'done'
}
