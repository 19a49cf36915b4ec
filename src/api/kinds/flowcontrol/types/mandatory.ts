/**
 * The mandatory flow control objects: the exempt level, the catch-all level for requests that no other schema matches,
 * and a FlowSchema for each of the two levels. Objects with these names must have exactly these specs.
 */
import type { Json } from '../../../json/json.ts'
import { superusers } from '../../../model/user.ts'
import { type EmulatedVersion, isAtLeast } from '../../../versions/emulated-version.ts'

const all = ['*']
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))

/** Specs of the mandatory FlowSchemas, by name. */
export const mandatoryFlowSchemas: ReadonlyMap<string, Json> = new Map<string, Json>([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: groups(superusers), ...everything }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    },
  ],
])

/** Returns the specs of the mandatory priority levels in an API version. */
export function mandatoryLevels(version: EmulatedVersion): ReadonlyMap<string, Json> {
  const exempt = isAtLeast(version, '1.28') ? { exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } } : {}
  const lending = isAtLeast(version, '1.26') ? { lendablePercent: 0 } : {}
  const limited = { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' }, ...lending }
  return new Map<string, Json>([
    ['exempt', { type: 'Exempt', ...exempt }],
    ['catch-all', { type: 'Limited', limited }],
  ])
}
