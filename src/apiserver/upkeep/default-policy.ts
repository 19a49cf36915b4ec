/**
 * Maintains the default roles and bindings. Every start creates missing objects and restores missing rules and
 * subjects, because a newer server may need more permissions. Additions by users are preserved. Objects whose
 * `autoupdate` annotation is `false` are not changed.
 */

import { type Json, type JsonObject, sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { runToCompletion as finish } from '../../base/concurrency/time-slice.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import { coverage } from '../authz/rbac/coverage.ts'
import { autoUpdateKey, type DefaultPolicy, defaultPolicy } from '../authz/rbac/defaults/all.ts'
import { rbacGroup } from '../authz/rbac/policy.ts'
import { type PolicyRule, ruleOf } from '../authz/rbac/rule.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { deleteObject } from '../registry/verbs/delete.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { contextOf, createMissing, getCached, ignoreNotFound } from './own-objects.ts'

/** Types in the order in which their objects are created. Bindings come after the roles that they refer to. */
const order: readonly (keyof DefaultPolicy)[] = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']

/** Returns a loop that creates and repairs the default roles and bindings at startup. */
export function defaultPolicyLoop(catalogue: Catalogue, emulation: Emulation): Loop {
  return {
    name: 'default-policy',
    sources: [atStart('all')],
    reconcile: async () => {
      await restoreDefaultPolicy(catalogue, emulation)
      return 'done'
    },
  }
}

async function restoreDefaultPolicy(catalogue: Catalogue, emulation: Emulation): Promise<void> {
  const policy = defaultPolicy(catalogue.vendor, emulation)
  for (const plural of order) {
    const resource = catalogue.stored(rbacGroup, plural)
    // Undefined only in tests that serve no RBAC types.
    if (resource !== undefined) await Promise.all(policy[plural].map((required) => ensure(resource, required)))
  }
}

async function ensure(resource: Resource, required: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = required.metadata
  const existing = getCached(resource, { namespace, name })
  if (existing === undefined) return await createWanted(resource, required)
  if (bindsAnother(existing, required) && mayRepair(resource, existing)) return await replace(resource, required)
  if (repaired(resource, existing, required) === existing) return
  await ignoreNotFound(
    updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, (previous) => ({
      object: repaired(resource, previous, required),
      managed: false,
    })),
  )
}

const atOnce = { gracePeriodSeconds: undefined, propagation: undefined, preconditions: [] }

async function createWanted(resource: Resource, required: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = required.metadata
  await createMissing(resource, { namespace, name }, asJson(required))
}

/**
 * Replaces a binding that refers to a different role. The roleRef of a binding is immutable, so the binding is deleted
 * and created again.
 */
async function replace(resource: Resource, required: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = required.metadata
  await ignoreNotFound(deleteObject(contextOf(resource, namespace, 'DeleteOptions'), name, atOnce))
  await createWanted(resource, required)
}

function bindsAnother(existing: ApiObject, required: ApiObject): boolean {
  return !sameJson((existing.roleRef ?? {}) as Json, (required.roleRef ?? {}) as Json)
}

function mayRepair({ vendor }: Resource, { metadata }: ApiObject): boolean {
  return metadata.annotations?.[autoUpdateKey(vendor)] !== 'false'
}

/**
 * Returns the object with missing labels, annotations, rules and subjects added. Returns the same object if nothing is
 * missing.
 */
function repaired(resource: Resource, existing: ApiObject, required: ApiObject): ApiObject {
  if (!mayRepair(resource, existing)) return existing
  const next = {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...existing.metadata.labels, ...required.metadata.labels },
      annotations: { ...existing.metadata.annotations, ...required.metadata.annotations },
    },
    ...withRules(existing, required),
    ...withSubjects(existing, required),
    ...withSelectors(existing, required),
  }
  return sameJson(asJson(next), asJson(existing)) ? existing : next
}

function withRules(existing: ApiObject, required: ApiObject): JsonObject {
  if (required.rules === undefined) return {}
  const own = (existing.rules ?? []) as readonly PolicyRule[]
  // Skip the rule-by-rule comparison, because the rules are nearly always unchanged.
  if (sameJson(own as Json, required.rules as Json)) return {}
  const every = required.rules as readonly PolicyRule[]
  const { uncovered } = finish(coverage(own.map(ruleOf), every, every.length))
  return uncovered.length === 0 ? {} : { rules: [...own, ...uncovered] as unknown as Json }
}

function withSubjects(existing: ApiObject, required: ApiObject): JsonObject {
  return withAll('subjects', (existing.subjects ?? []) as Json[], (required.subjects ?? []) as Json[])
}

function withSelectors(existing: ApiObject, required: ApiObject): JsonObject {
  const selectors = ({ aggregationRule }: ApiObject) =>
    (aggregationRule as { clusterRoleSelectors?: Json[] } | undefined)?.clusterRoleSelectors ?? []
  const all = withAll('clusterRoleSelectors', selectors(existing), selectors(required))
  return Object.keys(all).length === 0 ? {} : { aggregationRule: all }
}

/** Returns the field with missing elements added to its list. Returns an empty object if the list is complete. */
function withAll(field: string, own: readonly Json[], required: readonly Json[]): JsonObject {
  const lacking = required.filter((each) => !own.some((one) => sameJson(one, each)))
  return lacking.length === 0 ? {} : { [field]: [...own, ...lacking] }
}
