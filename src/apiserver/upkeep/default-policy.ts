/**
 * The default roles and bindings. Every start creates missing ones and restores missing rules and subjects, so that a
 * newer server has the permissions it needs. Additions by users are preserved. Objects whose `autoupdate` annotation is
 * `false` are not changed.
 */

import { type Json, type JsonObject, sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'
import { runToCompletion as finish } from '../../base/concurrency/time-slice.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import { coverage } from '../authz/rbac/covers.ts'
import { autoUpdateKey, type DefaultPolicy, defaultPolicy } from '../authz/rbac/defaults/all.ts'
import { rbacGroup } from '../authz/rbac/policy.ts'
import { type PolicyRule, ruleOf } from '../authz/rbac/rule.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { deleteObject } from '../registry/verbs/delete.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { contextOf, createMissing, getCached, ignoreNotFound } from './own-objects.ts'

/** Creates roles before the bindings that refer to them. */
const order: readonly (keyof DefaultPolicy)[] = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']

/** Creates and repairs the default roles and bindings at startup. */
export function defaultPolicyLoop(catalogue: Catalogue): Loop {
  return {
    name: 'default-policy',
    sources: [atStart('all')],
    reconcile: async () => {
      await restoreDefaultPolicy(catalogue)
      return 'done'
    },
  }
}

async function restoreDefaultPolicy(catalogue: Catalogue): Promise<void> {
  const policy = defaultPolicy(catalogue.vendor)
  for (const plural of order) {
    const resource = catalogue.stored(rbacGroup, plural)
    // Some tests run a server that does not serve RBAC types.
    if (resource !== undefined) await Promise.all(policy[plural].map((wanted) => ensure(resource, wanted)))
  }
}

async function ensure(resource: Resource, wanted: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  const found = getCached(resource, { namespace, name })
  if (found === undefined) return await createWanted(resource, wanted)
  if (bindsAnother(found, wanted) && mayRepair(resource, found)) return await replace(resource, wanted)
  if (repaired(resource, found, wanted) === found) return
  await ignoreNotFound(
    updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, (previous) => ({
      object: repaired(resource, previous, wanted),
      managed: false,
    })),
  )
}

const atOnce = { gracePeriodSeconds: undefined, propagation: undefined, preconditions: [] }

async function createWanted(resource: Resource, wanted: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  await createMissing(resource, { namespace, name }, asJson(wanted))
}

/** Deletes and recreates a binding because its roleRef is immutable. */
async function replace(resource: Resource, wanted: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  await ignoreNotFound(deleteObject(contextOf(resource, namespace, 'DeleteOptions'), name, atOnce))
  await createWanted(resource, wanted)
}

function bindsAnother(found: ApiObject, wanted: ApiObject): boolean {
  return !sameJson((found.roleRef ?? {}) as Json, (wanted.roleRef ?? {}) as Json)
}

function mayRepair({ vendor }: Resource, { metadata }: ApiObject): boolean {
  return metadata.annotations?.[autoUpdateKey(vendor)] !== 'false'
}

/** Adds missing labels, annotations, rules and subjects. Returns the same object if nothing is missing. */
function repaired(resource: Resource, found: ApiObject, wanted: ApiObject): ApiObject {
  if (!mayRepair(resource, found)) return found
  const next = {
    ...found,
    metadata: {
      ...found.metadata,
      labels: { ...found.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...found.metadata.annotations, ...wanted.metadata.annotations },
    },
    ...withRules(found, wanted),
    ...withSubjects(found, wanted),
    ...withSelectors(found, wanted),
  }
  return sameJson(asJson(next), asJson(found)) ? found : next
}

function withRules(found: ApiObject, wanted: ApiObject): JsonObject {
  if (wanted.rules === undefined) return {}
  const own = (found.rules ?? []) as readonly PolicyRule[]
  // Fast path: the rules are almost always unchanged.
  if (sameJson(own as Json, wanted.rules as Json)) return {}
  const every = wanted.rules as readonly PolicyRule[]
  const { uncovered } = finish(coverage(own.map(ruleOf), every, every.length))
  return uncovered.length === 0 ? {} : { rules: [...own, ...uncovered] as unknown as Json }
}

function withSubjects(found: ApiObject, wanted: ApiObject): JsonObject {
  return withAll('subjects', (found.subjects ?? []) as Json[], (wanted.subjects ?? []) as Json[])
}

function withSelectors(found: ApiObject, wanted: ApiObject): JsonObject {
  const selectors = ({ aggregationRule }: ApiObject) =>
    (aggregationRule as { clusterRoleSelectors?: Json[] } | undefined)?.clusterRoleSelectors ?? []
  const all = withAll('clusterRoleSelectors', selectors(found), selectors(wanted))
  return Object.keys(all).length === 0 ? {} : { aggregationRule: all }
}

/** Returns the field with the missing elements appended, or an empty object if none is missing. */
function withAll(field: string, own: readonly Json[], wanted: readonly Json[]): JsonObject {
  const lacking = wanted.filter((each) => !own.some((one) => sameJson(one, each)))
  return lacking.length === 0 ? {} : { [field]: [...own, ...lacking] }
}
