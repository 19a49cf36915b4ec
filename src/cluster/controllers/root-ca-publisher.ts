/**
 * Publishes the CA that pods use to verify the API server: a ConfigMap `kube-root-ca.crt` in every namespace that is
 * not terminating. The loop recreates the ConfigMap if it is deleted and repairs it if it is changed.
 */

import type { ConfigMap } from '../../api/kinds/core/config-map.ts'
import type { Namespace } from '../../api/kinds/core/namespace.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every, fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { isIgnorableCreateError } from './ignorable-create-error.ts'

export const rootCaName = 'kube-root-ca.crt'

export interface RootCaParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly namespaces: Informer<Namespace>
  /** ConfigMaps named `kube-root-ca.crt`, in all namespaces. */
  readonly configMaps: Informer<ConfigMap>
  /** Returns the current CA certificates (PEM). */
  readonly authority: () => string
}

const description = 'CA that clients inside the cluster use to verify the API server.'
/** Interval in milliseconds between checks of the CA itself, which may be replaced while the loop runs. */
const recheckMs = 60_000
/** Key that represents all namespaces. No namespace can have this name. */
const wholeCluster = '*'

export function rootCaPublisherLoop(parts: RootCaParts): Loop {
  const published = { authority: parts.authority() }
  return {
    name: 'root-ca-cert-publisher',
    sources: [
      fromInformer(parts.namespaces),
      fromInformer(parts.configMaps, ({ previous, object }) => [(object ?? previous)!.metadata.namespace ?? '']),
      every(recheckMs, wholeCluster),
    ],
    reconcile: async (key, signal) => {
      if (key !== wholeCluster) return await publish(parts, key, signal)
      if (published.authority === parts.authority()) return 'done'
      for (const { metadata } of [...parts.namespaces.objects()]) await publish(parts, metadata.name ?? '', signal)
      published.authority = parts.authority()
      return 'done'
    },
  }
}

async function publish(parts: RootCaParts, namespace: string, signal: AbortSignal): Promise<StepOutcome> {
  const namespaceObject = parts.namespaces.get({ name: namespace })
  if (namespaceObject === undefined || namespaceObject.metadata.deletionTimestamp !== undefined) return 'done'
  const data = { 'ca.crt': parts.authority() }
  const now = parts.configMaps.get({ namespace, name: rootCaName })
  if (now?.data?.['ca.crt'] === data['ca.crt'] && Object.keys(now.data).length === 1) return 'done'
  try {
    if (now === undefined) await parts.client.create(kinds.ConfigMap, newConfigMap(parts, namespace, data), { signal })
    else await parts.client.update(kinds.ConfigMap, { ...now, data }, { signal })
  } catch (error) {
    if (!isIgnorableCreateError(error)) throw error
  }
  return 'done'
}

function newConfigMap({ vendor }: RootCaParts, namespace: string, data: { [key: string]: string }): ConfigMap {
  const annotations = { [vendorKey(vendor, 'description')]: description }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: rootCaName, annotations }, data }
}
