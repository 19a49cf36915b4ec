/**
 * What flow control is built on: the level that is never held up and the one for whatever nothing else is for, each with
 * the schema that leads to it. Objects of these names say exactly this.
 */
import type { Json } from '../../../json/json.ts'
import { superusers } from '../../../model/user.ts'

const all = ['*']
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))

/** The specs of the FlowSchemas that every cluster has. */
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

/** The specs of the priority levels that every cluster has. */
export const mandatoryLevels: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['exempt', { type: 'Exempt' }],
  ['catch-all', { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } }],
])
