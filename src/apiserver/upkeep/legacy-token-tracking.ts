/**
 * Tracks the use of legacy service account tokens: maintains the ConfigMap with the start day of tracking, and labels
 * the Secrets that contain the tokens.
 */
import { secret as secrets } from '../../api/kinds/core/secret.ts'
import { dayOf, startOfDay, trackingConfigMap } from '../../api/model/legacy-tokens.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Availability } from '../../api/versions/availability.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every, fromCache } from '../../client/reconcile/sources.ts'
import type { LabelSecret } from '../authn/service-account/legacy-token-tracker.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { fetchObject, keyOf } from '../registry/catalogue/resource.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { changeFields, contextOf, createMissing, getCached, ignoreNotFound } from './own-objects.ts'
import { systemNamespace } from './system-objects.ts'

/** The Kubernetes versions that track legacy tokens. */
export const legacyTokenTracking: Availability = { since: '1.26', gate: 'LegacyServiceAccountTokenTracking' }

const object = { namespace: systemNamespace, name: trackingConfigMap }
const key = `${object.namespace}/${object.name}`
const periodMs = 30 * 60_000

/**
 * Returns a loop that creates the ConfigMap with the start day of tracking. A readable start day is kept, and an
 * unreadable start day is replaced with the current day.
 */
export function legacyTokenTrackingLoop(catalogue: Catalogue): Loop | undefined {
  const maps = catalogue.stored('core', 'configmaps')
  if (maps === undefined) return undefined
  return {
    name: 'legacy-token-tracking',
    sources: [every(periodMs, key), fromCache(maps.cache, { keysOf: (changed) => (changed === key ? [key] : []) })],
    reconcile: async () => {
      const data = { since: dayOf(maps.clock.now()) }
      await createMissing(maps, object, { data })
      await fetchObject(maps, keyOf(maps, object.namespace, object.name))
      const { data: present } = (getCached(maps, object) ?? {}) as { data?: { since?: string } }
      if (startOfDay(present?.since) === undefined) await ignoreNotFound(changeFields(maps, object, { data }))
      return 'done'
    },
  }
}

/** Returns a function that adds labels to a Secret, unless it has been deleted. */
export function secretLabels(catalogue: Catalogue): LabelSecret {
  return async ({ namespace, name, uid }, labels) => {
    const resource = catalogue.stored(secrets.group, secrets.plural)
    if (resource === undefined) return
    const change = (previous: ApiObject) => {
      const { metadata } = previous
      const isSame = metadata.uid === uid
      const next = isSame
        ? { ...previous, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } }
        : previous
      return { object: next, managed: false }
    }
    await ignoreNotFound(updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, change))
  }
}
