/**
 * The suggested priority levels and FlowSchemas of kube-apiserver. A new server creates the objects of the emulated
 * version in addition to the mandatory objects. Nodes, leader elections and controllers have separate levels. All other
 * requests are assigned to the remaining levels by user.
 */
import type { Json } from '../../../json/json.ts'
import { authenticatedUsers, nodesGroup, unauthenticatedUsers } from '../../../model/user.ts'
import { groupName, type Vendor } from '../../../model/vendor.ts'
import { type Availability, exists } from '../../../versions/availability.ts'
import { type EmulatedVersion, isAtLeast } from '../../../versions/emulated-version.ts'

interface LevelShares {
  readonly shares: number
  /** Percentage of the level's seats that other levels can borrow. Effective since 1.26. */
  readonly lendable: number
  readonly queues: number
  readonly handSize: number
}

const levels: { readonly [name: string]: LevelShares } = {
  system: { shares: 30, lendable: 33, queues: 64, handSize: 6 },
  'node-high': { shares: 40, lendable: 25, queues: 64, handSize: 6 },
  'leader-election': { shares: 10, lendable: 0, queues: 16, handSize: 4 },
  'workload-high': { shares: 40, lendable: 50, queues: 128, handSize: 6 },
  'workload-low': { shares: 100, lendable: 90, queues: 128, handSize: 6 },
  'global-default': { shares: 20, lendable: 50, queues: 128, handSize: 6 },
}

/** Returns the specs of the suggested priority levels in a Kubernetes version. */
export function suggestedLevels(version: EmulatedVersion): ReadonlyMap<string, Json> {
  return new Map(Object.entries(levels).map(([name, each]) => [name, levelSpec(each, version)]))
}

function levelSpec({ shares, lendable, queues, handSize }: LevelShares, version: EmulatedVersion): Json {
  return {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: shares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      ...(isAtLeast(version, '1.26') ? { lendablePercent: lendable } : {}),
    },
  }
}

const all = ['*']
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]) => names.map((name) => ({ kind: 'User', user: { name } }))
const systemAccount = (name: string) => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name },
})
const systemAccounts = [systemAccount('*')]
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

interface SuggestedSchema extends Availability {
  readonly name: string
  readonly spec: Json
}

/** Returns the specs of the suggested FlowSchemas in a Kubernetes version. */
export function suggestedFlowSchemas(vendor: Vendor, version: EmulatedVersion): ReadonlyMap<string, Json> {
  const existing = allFlowSchemas(groupName(vendor, 'coordination')).filter((each) => exists(each, version))
  return new Map(existing.map(({ name, spec }) => [name, spec]))
}

function allFlowSchemas(coordination: string): readonly SuggestedSchema[] {
  const leases = (verbs: string[]) => inNamespaces(verbs, coordination, ['leases'])
  const electors = [...managers, ...systemAccounts]
  const nodes = groups(nodesGroup)
  return [
    {
      name: 'probes',
      spec: schema(
        { level: 'exempt', precedence: 2 },
        { subjects: everybody, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: probes }] },
      ),
    },
    {
      name: 'system-leader-election',
      until: '1.24',
      spec: election(100, electors, [older(['kube-system']), leases(electing)]),
    },
    { name: 'system-leader-election', since: '1.24', spec: election(100, electors, [leases(electing)]) },
    { name: 'endpoint-controller', since: '1.24', until: '1.34', spec: endpointWrites },
    {
      name: 'workload-leader-election',
      until: '1.34',
      spec: election(200, systemAccounts, [older(all), leases(electing)]),
    },
    {
      name: 'system-node-high',
      spec: schema(
        { level: 'node-high', precedence: 400, flows: 'ByUser' },
        { subjects: nodes, resourceRules: [nodeObjects, leases(all)] },
      ),
    },
    { name: 'system-nodes', spec: whole({ level: 'system', precedence: 500, flows: 'ByUser' }, nodes) },
    { name: 'kube-controller-manager', spec: whole(highLevel(800), users('system:kube-controller-manager')) },
    { name: 'kube-scheduler', spec: whole(highLevel(800), users('system:kube-scheduler')) },
    { name: 'kube-system-service-accounts', spec: whole(highLevel(900), systemAccounts) },
    {
      name: 'service-accounts',
      spec: whole({ level: 'workload-low', precedence: 9000, flows: 'ByUser' }, groups('system:serviceaccounts')),
    },
    {
      name: 'global-default',
      spec: whole({ level: 'global-default', precedence: 9900, flows: 'ByUser' }, everybody),
    },
  ]
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

/**
 * Assigns the level `workload-high` to writes of Endpoints by controllers. Otherwise, these writes would count as
 * leader elections.
 */
const endpointWrites = schema(
  { level: 'workload-high', precedence: 150, flows: 'ByUser' },
  {
    subjects: [
      ...users('system:kube-controller-manager'),
      systemAccount('endpoint-controller'),
      systemAccount('endpointslicemirroring-controller'),
    ],
    resourceRules: [inNamespaces(electing, '', ['endpoints'])],
  },
)

function highLevel(precedence: number): Place {
  return { level: 'workload-high', precedence, flows: 'ByNamespace' }
}

/** Returns a FlowSchema for all requests from the given subjects. */
function whole(place: Place, subjects: Json[]): Json {
  return schema(place, { subjects, ...everything })
}

function election(precedence: number, subjects: Json[], resourceRules: Json[]): Json {
  return schema({ level: 'leader-election', precedence, flows: 'ByUser' }, { subjects, resourceRules })
}

/** Returns a rule for leader elections that use Endpoints or ConfigMaps, which clients used before Leases existed. */
function older(namespaces: string[]) {
  return { ...inNamespaces(electing, '', ['endpoints', 'configmaps']), namespaces }
}

function inNamespaces(verbs: string[], group: string, resources: string[]) {
  return { verbs, apiGroups: [group], resources, namespaces: all }
}
