/**
 * The suggested priority levels and FlowSchemas of kube-apiserver 1.23. A new server creates them in addition to the
 * mandatory ones. Nodes, leader elections and controllers have separate levels; all other requests share the remaining
 * levels by user.
 */
import type { Json } from '../../../json/json.ts'
import { authenticatedUsers, nodesGroup, unauthenticatedUsers } from '../../../model/user.ts'
import { groupName, type Vendor } from '../../../model/vendor.ts'

const level = (shares: number, queues: number, handSize: number): Json => ({
  type: 'Limited',
  limited: {
    assuredConcurrencyShares: shares,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
  },
})

/** Specs of the suggested priority levels. */
export const suggestedLevels: ReadonlyMap<string, Json> = new Map([
  ['system', level(30, 64, 6)],
  ['node-high', level(40, 64, 6)],
  ['leader-election', level(10, 16, 4)],
  ['workload-high', level(40, 128, 6)],
  ['workload-low', level(100, 128, 6)],
  ['global-default', level(20, 128, 6)],
])

const all = ['*']
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]) => names.map((name) => ({ kind: 'User', user: { name } }))
const systemAccounts = [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }]
const everybody = groups(unauthenticatedUsers, authenticatedUsers)

interface Place {
  readonly level: string
  readonly precedence: number
  readonly flows?: 'ByUser' | 'ByNamespace'
}

const schema = ({ level, precedence, flows }: Place, rules: { readonly [member: string]: Json }): Json => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence: precedence,
  ...(flows && { distinguisherMethod: { type: flows } }),
  rules: [rules],
})

/** Specs of the suggested FlowSchemas. */
export function suggestedFlowSchemas(vendor: Vendor): ReadonlyMap<string, Json> {
  const leases = (verbs: string[]) => inNamespaces(verbs, groupName(vendor, 'coordination'), ['leases'])
  return new Map([
    [
      'probes',
      schema(
        { level: 'exempt', precedence: 2 },
        { subjects: everybody, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: probes }] },
      ),
    ],
    [
      'system-leader-election',
      election(100, [...managers, ...systemAccounts], [older(['kube-system']), leases(electing)]),
    ],
    ['workload-leader-election', election(200, systemAccounts, [older(all), leases(electing)])],
    [
      'system-node-high',
      schema(
        { level: 'node-high', precedence: 400, flows: 'ByUser' },
        { subjects: groups(nodesGroup), resourceRules: [nodeObjects, leases(all)] },
      ),
    ],
    ['system-nodes', whole({ level: 'system', precedence: 500, flows: 'ByUser' }, groups(nodesGroup))],
    ['kube-controller-manager', whole(highLevel(800), users('system:kube-controller-manager'))],
    ['kube-scheduler', whole(highLevel(800), users('system:kube-scheduler'))],
    ['kube-system-service-accounts', whole(highLevel(900), systemAccounts)],
    [
      'service-accounts',
      whole({ level: 'workload-low', precedence: 9000, flows: 'ByUser' }, groups('system:serviceaccounts')),
    ],
    ['global-default', whole({ level: 'global-default', precedence: 9900, flows: 'ByUser' }, everybody)],
  ])
}

const probes = ['/healthz', '/readyz', '/livez']
const electing = ['get', 'create', 'update']
const managers = users('system:kube-controller-manager', 'system:kube-scheduler')
const nodeObjects = {
  verbs: all,
  apiGroups: [''],
  resources: ['nodes', 'nodes/status'],
  namespaces: all,
  clusterScope: true,
}

function highLevel(precedence: number): Place {
  return { level: 'workload-high', precedence, flows: 'ByNamespace' }
}

/** Matches all requests of the subjects. */
function whole(place: Place, subjects: Json[]): Json {
  return schema(place, { subjects, ...everything })
}

function election(precedence: number, subjects: Json[], resourceRules: Json[]): Json {
  return schema({ level: 'leader-election', precedence, flows: 'ByUser' }, { subjects, resourceRules })
}

/** Matches leader elections through Endpoints and ConfigMaps, which predate Leases. */
function older(namespaces: string[]) {
  return { ...inNamespaces(electing, '', ['endpoints', 'configmaps']), namespaces }
}

function inNamespaces(verbs: string[], group: string, resources: string[]) {
  return { verbs, apiGroups: [group], resources, namespaces: all }
}
