/**
 * Sets the rules of ClusterRoles with an `aggregationRule`: the union of the rules of all selected ClusterRoles,
 * without duplicates, ordered by role name. A selected role may itself be aggregated.
 */

import { type Json, sameJson } from '../../api/json/json.ts'
import type { ClusterRole } from '../../api/kinds/rbac/cluster-role.ts'
import { LabelMatcher, requirementsOf } from '../../api/selectors/label-selector.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import type { Client } from '../../client/requests/client.ts'
import { isNotFound } from '../../client/requests/status-error.ts'

export interface AggregationParts {
  readonly client: Client
  readonly informer: Informer<ClusterRole>
}

export function clusterRoleAggregationLoop(parts: AggregationParts): Loop {
  const { informer } = parts
  return {
    name: 'clusterrole-aggregation',
    // Reconciles all aggregated roles after any role change, because the change may affect any of them. There are only
    // a few aggregated roles.
    sources: [fromInformer(informer, () => aggregated(informer))],
    reconcile: (name, signal) => reconcile(parts, name, signal),
  }
}

function aggregated(informer: Informer<ClusterRole>): string[] {
  return [...informer.objects()].filter(({ aggregationRule }) => aggregationRule !== undefined).map(nameOf)
}

function nameOf({ metadata }: ClusterRole): string {
  return metadata.name!
}

async function reconcile(
  { client, informer }: AggregationParts,
  name: string,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const role = informer.get({ name })
  if (role?.aggregationRule === undefined) return 'done'
  const rules = rulesFor(role, informer)
  if (sameJson((role.rules ?? []) as Json, rules as Json)) return 'done'
  const change = (object: ClusterRole) => (object.aggregationRule === undefined ? undefined : { ...object, rules })
  try {
    await changeObject(client, informer.type, { name: { name }, change, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return 'done'
}

/** Returns the rules of all selected roles without duplicates. */
function rulesFor({ aggregationRule, metadata }: ClusterRole, informer: Informer<ClusterRole>) {
  const matchers = (aggregationRule?.clusterRoleSelectors ?? []).map((each) => new LabelMatcher(requirementsOf(each)))
  const selected = [...informer.objects()]
    .filter((other) => other.metadata.name !== metadata.name)
    .filter((other) => matchers.some((matcher) => matcher.matches(other.metadata.labels)))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const rules = selected.flatMap(({ rules: own = [] }) => own)
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()]
}
