/**
 * Tests requirements that every control loop must meet. A rejected write for one object does not block other objects,
 * and if a manager is killed during a write, the next manager finishes the work. The test fails if a loop has no row
 * here. Each loop also has its own test file. If a loop makes several writes, its own test file kills the manager at
 * each of these writes.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { clusterInfo, signaturePrefix } from '../../../src/api/model/bootstrap-token.ts'
import { parseRange } from '../../../src/api/model/ip-range.ts'
import { timestamp } from '../../../src/api/model/object.ts'
import { generateKey } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { controlLoops } from '../../../src/cluster/controllers/all.ts'
import type { LoopOptions } from '../../../src/cluster/controllers/control-loop.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type ManagerOptions, openLoopServer } from '../../support/loop-manager.ts'
import { untilTrue } from '../../support/until.ts'

type Found = Awaited<ReturnType<typeof read>>
/**
 * A control loop, the objects on which it acts, and the result that the test observes. All objects and paths contain
 * the given name.
 */
interface Row {
  make(name: string): Promise<void>
  /** The path of the object or list to check. */
  readonly path: (name: string) => string
  /** Checks the object or list. If there is no check, the object must have been deleted. */
  readonly isDone?: (found: NonNullable<Found>, name: string) => boolean
  readonly options?: () => Partial<LoopOptions>
  /** Time since the objects were created, according to the loop's clock. */
  readonly laterMs?: number
  /** Other loops that the loop needs. */
  readonly beside?: readonly string[]
  /** Text in the path or body of requests about an object. Defaults to the name of the object. */
  readonly mark?: (name: string) => string
  /** Whether all objects are written with a single request, so that no object can block others. */
  readonly inOneWrite?: true
}

const owner = endOfFile()
let opened: Awaited<ReturnType<typeof openLoopServer>>

before(async () => {
  const plugins = 'ServiceAccount,DefaultTolerationSeconds,TaintNodesByCondition'
  opened = await openLoopServer(owner, [`--disable-admission-plugins=${plugins}`])
  await send('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'each-loop-may-join' },
    roleRef: { kind: 'ClusterRole', name: `system:certificates.orch.io:certificatesigningrequests:nodeclient` },
    subjects: [{ kind: 'Group', name: 'system:masters' }],
  })
  await send('POST', `${storage}/csidrivers`, { metadata: { name: driver }, spec: {} })
  const growing = { metadata: { name: 'growing' }, provisioner: 'orch.io/host-path', allowVolumeExpansion: true }
  await send('POST', `${storage}/storageclasses`, growing)
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  await post(`${rbac}/clusterroles`, () => ({ rules }), { labels: { 'to-all': '' } })('each-loop-part')
  const config = { data: { kubeconfig: 'kind: Config' } }
  await post(`/api/v1/namespaces/${clusterInfo.namespace}/configmaps`, () => config)(clusterInfo.name)
})

const here = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const batch = '/apis/batch/v1/namespaces/default'
const discovery = '/apis/discovery.orch.io/v1/namespaces/default'
const rbac = '/apis/rbac.authorization.orch.io/v1'
const storage = '/apis/storage.orch.io/v1'
const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const driver = 'disk.example.com'
const hour = 3_600_000
const key = generateKey()

async function send(method: string, path: string, body?: object): Promise<void> {
  const patch = method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}
  const answer = await opened.client.open({ method, path, ...patch, ...(body === undefined ? {} : { body }) })
  for await (const _ of answer.body);
}

/** Returns the object or list at a path, or undefined if it does not exist. */
async function read(path: string) {
  interface Anything {
    readonly metadata: { readonly [key: string]: unknown; readonly annotations?: { readonly [key: string]: string } }
    readonly [key: string]: unknown
    readonly items: readonly { readonly [key: string]: unknown }[]
    readonly spec?: { readonly [key: string]: unknown }
    readonly status?: { readonly [key: string]: unknown }
  }
  try {
    return await opened.client.read<Anything>(path)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

const container = { name: 'c', image: 'i' }
const podSpec = { containers: [container], terminationGracePeriodSeconds: 0 }
const objectNamed = (name: string, more: object = {}) => ({ metadata: { name, ...more } })
const post =
  (collection: string, of: (name: string) => object, more: object = {}) =>
  (name: string) =>
    send('POST', collection, { ...objectNamed(name, more), ...of(name) })
const makePod = (name: string, spec: object = {}, more: object = {}) =>
  post(`${here}/pods`, () => ({ spec: { ...podSpec, ...spec } }), more)(name)
const makeNode = post('/api/v1/nodes', () => ({}))
const some = ({ items }: NonNullable<Found>) => items.length > 0

/** Spec of a workload that selects its pods by label. */
const workload =
  (more: object = {}) =>
  (name: string) => ({
    spec: {
      selector: { matchLabels: { of: name } },
      template: { metadata: { labels: { of: name } }, spec: podSpec },
      ...more,
    },
  })
const podsOf = (name: string) => `${here}/pods?labelSelector=of%3D${name}`

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const volumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/d' } }

/** Creates a volume and a claim that reference each other. */
async function makeStorage(name: string, more: object = {}, className = ''): Promise<void> {
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name }
  const volume = { ...volumeSpec, ...more, claimRef, storageClassName: className }
  await send('POST', '/api/v1/persistentvolumes', { ...objectNamed(name), spec: volume })
  const claim = { ...claimSpec, storageClassName: className, volumeName: name }
  await send('POST', `${here}/persistentvolumeclaims`, { ...objectNamed(name), spec: claim })
}

async function makeRequestOf(name: string, signerName: string): Promise<void> {
  const pem = makeRequest({ commonName: `system:node:${name}`, organizations: ['system:nodes'] }, key)
  const usages = ['client auth', 'digital signature', 'key encipherment']
  const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages }
  await send('POST', requests, { ...objectNamed(name), spec })
}

async function deleteAfter(path: string, name: string, make: Promise<void>): Promise<void> {
  await make
  await send('DELETE', `${path}/${name}`)
}

/** Returns a bootstrap token ID of six characters, derived from the first letter and the last word of the name. */
const tokenId = (name: string) => `${name[0]}${name.slice(name.lastIndexOf('-') + 1, -1)}`.padEnd(6, '0')
const tokenName = (name: string) => `bootstrap-token-${tokenId(name)}`
async function makeToken(name: string, more: { [key: string]: string } = {}): Promise<void> {
  const stringData = { 'token-id': tokenId(name), 'token-secret': '0123456789abcdef', ...more }
  const secret = { type: 'bootstrap.orch.io/token', stringData }
  await send('POST', '/api/v1/namespaces/kube-system/secrets', { ...objectNamed(tokenName(name)), ...secret })
}

const rows: { readonly [loop: string]: Row } = {
  attachdetach: {
    make: async (name) => {
      await makeNode(name)
      await makeStorage(name, { hostPath: undefined, csi: { driver, volumeHandle: name } })
      await makePod(name, { nodeName: name, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: name } }] })
    },
    path: () => `${storage}/volumeattachments`,
    isDone: ({ items }, name) => items.some(({ spec }) => (spec as { nodeName: string }).nodeName === name),
    beside: ['persistentvolume-binder'],
    mark: (name) => `"nodeName":"${name}"`,
  },
  bootstrapsigner: {
    make: (name) => makeToken(name, { 'usage-bootstrap-signing': 'true' }),
    path: () => `/api/v1/namespaces/${clusterInfo.namespace}/configmaps/${clusterInfo.name}`,
    isDone: ({ data }, name) => Object.keys(data as object).includes(`${signaturePrefix}${tokenId(name)}`),
    inOneWrite: true,
  },
  'clusterrole-aggregation': {
    make: post(`${rbac}/clusterroles`, () => ({
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'to-all', operator: 'Exists' }] }] },
      rules: [],
    })),
    path: (name) => `${rbac}/clusterroles/${name}`,
    isDone: ({ rules }) => ((rules as unknown[] | null) ?? []).length > 0,
  },
  cronjob: {
    make: post(`${batch}/cronjobs`, () => ({
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
      },
    })),
    path: () => `${batch}/jobs`,
    isDone: ({ items }, name) => items.some(({ metadata }) => (metadata as { name: string }).name.startsWith(name)),
    laterMs: 61_000,
  },
  csrapproving: {
    make: (name) => makeRequestOf(name, opened.vendor.signers.nodeClient),
    path: (name) => `${requests}/${name}`,
    isDone: ({ status }) => status?.conditions !== undefined,
  },
  csrcleaner: {
    make: (name) => makeRequestOf(name, 'example.com/nobody'),
    path: (name) => `${requests}/${name}`,
    laterMs: 25 * hour,
  },
  csrsigning: {
    make: async (name) => {
      await makeRequestOf(name, opened.vendor.signers.client)
      const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand' }]
      await send('PATCH', `${requests}/${name}/approval`, { status: { conditions } })
    },
    path: (name) => `${requests}/${name}`,
    isDone: ({ status }) => status?.certificate !== undefined,
    options: () => {
      const { certificate, key: text } = opened.server.signingAuthority
      const issuer = { certificate, key: createPrivateKey(text) }
      const authority = () => issuer
      const authorities = { client: authority, nodeClient: authority, nodeServing: authority }
      return { signing: { authorities, maxLifetimeMs: hour } }
    },
  },
  daemonset: {
    make: async (name) => {
      await post('/api/v1/nodes', () => ({}), { labels: { for: name } })(name)
      const template = { metadata: { labels: { of: name } }, spec: { ...podSpec, nodeSelector: { for: name } } }
      await post(`${apps}/daemonsets`, workload({ template }))(name)
    },
    path: podsOf,
    isDone: some,
  },
  deployment: {
    make: post(`${apps}/deployments`, workload()),
    path: (name) => `${apps}/replicasets?labelSelector=of%3D${name}`,
    isDone: some,
  },
  disruption: {
    make: post('/apis/policy/v1/namespaces/default/poddisruptionbudgets', (name) => ({
      spec: { minAvailable: 1, selector: { matchLabels: { of: name } } },
    })),
    path: (name) => `/apis/policy/v1/namespaces/default/poddisruptionbudgets/${name}`,
    isDone: ({ status }) => status?.observedGeneration === 1,
  },
  endpoint: {
    make: post(`${here}/services`, (name) => ({ spec: { selector: { of: name }, ports: [{ port: 80 }] } })),
    path: (name) => `${here}/endpoints/${name}`,
    isDone: () => true,
  },
  endpointslice: {
    make: post(`${here}/services`, (name) => ({ spec: { selector: { of: name }, ports: [{ port: 80 }] } })),
    path: (name) => `${discovery}/endpointslices?labelSelector=orch.io%2Fservice-name%3D${name}`,
    isDone: some,
  },
  endpointslicemirroring: {
    make: async (name) => {
      await post(`${here}/services`, () => ({ spec: { ports: [{ port: 80 }] } }))(name)
      const subsets = [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }]
      await post(`${here}/endpoints`, () => ({ subsets }))(name)
    },
    path: (name) => `${discovery}/endpointslices?labelSelector=orch.io%2Fservice-name%3D${name}`,
    isDone: some,
  },
  'ephemeral-volume': {
    make: (name) =>
      makePod(name, { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }] }),
    path: (name) => `${here}/persistentvolumeclaims/${name}-v`,
    isDone: () => true,
  },
  garbagecollector: {
    make: (name) => {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'a' }
      return post(`${here}/configmaps`, () => ({}), { ownerReferences: [owner] })(name)
    },
    path: (name) => `${here}/configmaps/${name}`,
  },
  horizontalpodautoscaling: {
    make: async (name) => {
      await post(`${apps}/deployments`, workload())(name)
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name }
      const spec = { scaleTargetRef, minReplicas: 3, maxReplicas: 5 }
      await post('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', () => ({ spec }))(name)
    },
    path: (name) => `${apps}/deployments/${name}`,
    isDone: ({ spec }) => spec?.replicas === 3,
  },
  'host-path-provisioner': {
    make: post(`${here}/persistentvolumeclaims`, () => ({ spec: { ...claimSpec, storageClassName: 'growing' } })),
    path: () => '/api/v1/persistentvolumes',
    isDone: ({ items }, name) =>
      items.some(({ spec }) => (spec as { claimRef?: { name: string } }).claimRef?.name === name),
    options: () => ({ volumeDirectory: join(opened.directory, 'volumes') }),
    beside: ['persistentvolume-binder'],
    mark: (name) => `"name":"${name}"`,
  },
  job: {
    make: post(`${batch}/jobs`, () => ({ spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } })),
    path: (name) => `${here}/pods?labelSelector=job-name%3D${name}`,
    isDone: some,
  },
  namespace: {
    make: (name) => deleteAfter('/api/v1/namespaces', name, post('/api/v1/namespaces', () => ({}))(name)),
    path: (name) => `/api/v1/namespaces/${name}`,
  },
  nodeipam: {
    make: makeNode,
    path: (name) => `/api/v1/nodes/${name}`,
    isDone: ({ spec }) => spec?.podCIDR !== undefined,
    options: () => ({
      podRanges: { ranges: [parseRange('10.244.0.0/16')!], ipv4Bits: 24, ipv6Bits: 64, services: [] },
    }),
  },
  nodelifecycle: {
    make: post('/api/v1/nodes', () => ({ spec: { unschedulable: true } })),
    path: (name) => `/api/v1/nodes/${name}`,
    isDone: ({ spec }) => spec?.taints !== undefined,
  },
  'persistentvolume-binder': {
    make: makeStorage,
    path: (name) => `${here}/persistentvolumeclaims/${name}`,
    isDone: ({ status }) => status?.phase === 'Bound',
  },
  'persistentvolume-expander': {
    make: async (name) => {
      const provisioned = { annotations: { 'pv.orch.io/provisioned-by': 'orch.io/host-path' } }
      await makeStorage(name, {}, 'growing')
      await send('PATCH', `/api/v1/persistentvolumes/${name}`, { metadata: provisioned })
      const binder = opened.start(['persistentvolume-binder'])
      const path = `${here}/persistentvolumeclaims/${name}`
      await untilTrue(async () => (await read(path))?.status?.phase === 'Bound')
      await binder.stop()
      await send('PATCH', path, { spec: { resources: { requests: { storage: '5Gi' } } } })
    },
    path: (name) => `${here}/persistentvolumeclaims/${name}`,
    isDone: ({ status }) => (status?.capacity as { storage?: string } | undefined)?.storage === '5Gi',
  },
  podgc: {
    // The newest terminated pod remains.
    make: async (name) => {
      for (const each of [name, `z-${name}`]) {
        await makePod(each)
        await send('PATCH', `${here}/pods/${each}/status`, { status: { phase: 'Succeeded' } })
      }
    },
    path: (name) => `${here}/pods/${name}`,
    options: () => ({ maxEndedPods: 1 }),
    mark: (name) => `/pods/${name}`,
  },
  'pv-protection': {
    make: (name) => {
      const path = '/api/v1/persistentvolumes'
      return deleteAfter(path, name, post(path, () => ({ spec: volumeSpec }))(name))
    },
    path: (name) => `/api/v1/persistentvolumes/${name}`,
  },
  'pvc-protection': {
    make: (name) => {
      const path = `${here}/persistentvolumeclaims`
      return deleteAfter(path, name, post(path, () => ({ spec: claimSpec }))(name))
    },
    path: (name) => `${here}/persistentvolumeclaims/${name}`,
  },
  replicaset: { make: post(`${apps}/replicasets`, workload()), path: podsOf, isDone: some },
  replicationcontroller: {
    make: post(`${here}/replicationcontrollers`, (name) => workload({ selector: { of: name } })(name)),
    path: podsOf,
    isDone: some,
  },
  resourcequota: {
    make: post(`${here}/resourcequotas`, () => ({ spec: { hard: { 'count/leases.coordination.orch.io': '5' } } })),
    path: (name) => `${here}/resourcequotas/${name}`,
    isDone: ({ status }) => status?.used !== undefined,
  },
  'root-ca-cert-publisher': {
    make: post('/api/v1/namespaces', () => ({})),
    path: (name) => `/api/v1/namespaces/${name}/configmaps/kube-root-ca.crt`,
    isDone: () => true,
    options: () => ({ rootAuthority: () => 'the CA' }),
  },
  scheduler: {
    make: async (name) => {
      await makeNode(name)
      const conditions = [{ type: 'Ready', status: 'True' }]
      await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions, allocatable: { pods: '1000' } } })
      await makePod(name)
    },
    path: (name) => `${here}/pods/${name}`,
    isDone: ({ spec }) => spec?.nodeName !== undefined,
    mark: (name) => `/pods/${name}/`,
  },
  serviceaccount: {
    make: post('/api/v1/namespaces', () => ({})),
    path: (name) => `/api/v1/namespaces/${name}/serviceaccounts/default`,
    isDone: () => true,
  },
  'serviceaccount-token': {
    make: async (name) => {
      await post(`${here}/serviceaccounts`, () => ({}))(name)
      const annotations = { 'orch.io/service-account.name': name }
      await post(`${here}/secrets`, () => ({ type: 'orch.io/service-account-token' }), { annotations })(name)
    },
    path: (name) => `${here}/secrets/${name}`,
    isDone: ({ data }) => (data as { token?: string } | undefined)?.token !== undefined,
    options: () => ({ issueToken: async ({ secret }) => `token of ${secret}` }),
  },
  'simulation-rules': {
    make: async (name) => {
      await makeNode(name)
      await post('/apis/ops.orch.io/v1/simulationrules', () => ({ spec: { failure: 'down', names: [name] } }))(name)
    },
    path: (name) => `${here}/events?fieldSelector=involvedObject.kind%3DSimulationRule,involvedObject.name%3D${name}`,
    isDone: some,
  },
  statefulset: { make: post(`${apps}/statefulsets`, workload({ serviceName: 's' })), path: podsOf, isDone: some },
  tokencleaner: {
    make: (name) => makeToken(name, { expiration: timestamp(systemClock.now() - 10_000) }),
    path: (name) => `/api/v1/namespaces/kube-system/secrets/${tokenName(name)}`,
    mark: tokenName,
  },
  ttl: {
    make: makeNode,
    path: (name) => `/api/v1/nodes/${name}`,
    isDone: ({ metadata }) => metadata.annotations?.['node.alpha.orch.io/ttl'] !== undefined,
  },
  'ttl-after-finished': {
    make: async (name) => {
      const template = { spec: { ...podSpec, restartPolicy: 'Never' } }
      await post(`${batch}/jobs`, () => ({ spec: { ttlSecondsAfterFinished: 0, template } }))(name)
      const time = timestamp(systemClock.now())
      const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: time }]
      await send('PATCH', `${batch}/jobs/${name}/status`, { status: { conditions, completionTime: time } })
    },
    path: (name) => `${batch}/jobs/${name}`,
    isDone: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  },
}

/**
 * Loops that require a later Kubernetes version and have their own tests. `storage-protection.test.ts` tests the last
 * of these loops.
 */
const testedElsewhere = [
  'legacy-service-account-token-cleaner',
  'resourceclaim-controller',
  'service-cidr-controller',
  'storage-version-migrator-controller',
  'validatingadmissionpolicy-status',
  'volumeattributesclass-protection',
]

test('the table in this test has a row for every control loop', () => {
  assert.deepEqual([...Object.keys(rows), ...testedElsewhere].sort(), controlLoops.map(({ name }) => name).sort())
})

for (const [loop, row] of Object.entries(rows))
  test(`${loop}: a rejected write does not block other writes, and the next manager finishes the work of a killed manager`, async () => {
    const { make, path, isDone, options, laterMs = 0, beside = [], mark = (name) => name, inOneWrite = false } = row
    const clock = { now: () => systemClock.now() + laterMs, monotonic: systemClock.monotonic }
    const start = (more: ManagerOptions = {}) =>
      opened.start([loop, ...beside], { clock, ...(options && { options: options() }), ...more })
    const has = async (name: string) => {
      const found = await read(path(name))
      return isDone === undefined ? found === undefined : found !== undefined && isDone(found, name)
    }
    const [fine, bad, first, second] = ['fine', 'bad', 'first', 'second'].map((word) => `${loop}-${word}`) as [
      ...[string, string, string, string],
    ]

    for (const name of [bad, fine]) await make(name)
    if (!inOneWrite) {
      const refusing = start({ through: refusingAbout(mark(bad)) })
      await untilTrue(() => has(fine))
      assert.equal(await has(bad), false)
      await refusing.stop()
    }

    for (const name of [first, second]) await make(name)
    const dying = start({ death: { writes: 1, answered: false } })
    await dying.killed
    await dying.stop()
    const next = start()
    for (const name of [fine, bad, first, second]) await untilTrue(() => has(name))
    await next.stop()
  })

/** Rejects every write whose path or body contains the given text. */
function refusingAbout(mark: string): (send: Transport) => Transport {
  return (send) => async (request) => {
    const text = `${request.path} ${request.body === undefined ? '' : Buffer.from(request.body).toString()}`
    if (request.method !== 'GET' && text.includes(mark)) throw new Error('refused')
    return await send(request)
  }
}
