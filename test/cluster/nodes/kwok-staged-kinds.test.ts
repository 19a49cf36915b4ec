/** Tests Stage objects for kinds other than Pod and Node, and the permissions of Stage objects. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseYamlDocuments } from '../../../src/api/codec/yaml-text.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { type KwokObject, kwokKinds, kwokType } from '../../../src/cluster/nodes/kwok/kinds.ts'
import { readAuthor, stageAuthorKey } from '../../../src/cluster/nodes/kwok/stage-author.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const stageType = kwokType(kwokKinds.stage)
const vendor = vendorOf('kubernetes')
const authorKey = stageAuthorKey(vendor)
const widgets = { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true, kind: 'Widget' }
let server: Restartable
let admin: Client
let alice: Client

before(async () => {
  server = await serveUpWithThread(owner, ['--profile=kubernetes', '--nodes=1'])
  admin = new Client(server.transport())
  alice = new Client(server.transport('alice-token'))
  const account = () => admin.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  await untilTrue(async () =>
    admin.list(stageType).then(
      () => true,
      () => false,
    ),
  )
  await allow('stages', ['kwok.x-k8s.io'], ['stages', 'stages/status'], ['*'])
})

/** Grants the user alice cluster-wide permissions. */
async function allow(name: string, apiGroups: string[], resources: string[], verbs: string[]): Promise<void> {
  await admin.create(kinds.ClusterRole, { metadata: { name }, rules: [{ apiGroups, resources, verbs }] })
  await admin.create(kinds.ClusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  })
}

const stageOf = (text: string) => parseYamlDocuments(text, 100_000)[0]!.value as unknown as KwokObject
const apply = (client: Client, name: string, spec: string) =>
  client.create(stageType, stageOf(`{metadata: {name: ${name}}, spec: ${spec}}`))

const stage = (name: string) => admin.get(stageType, { name })
const conditionOf = ({ status }: KwokObject) => status?.conditions?.find(({ type }) => type === 'Supported')
const untilCondition = async (name: string, message: RegExp) =>
  await until(
    async () => conditionOf(await stage(name))?.message ?? '',
    (text) => message.test(text),
  )
const untilFailure = async (name: string, message: RegExp) =>
  await until(
    () => admin.list(kinds.Event),
    ({ items }) =>
      items.some(
        (event) =>
          event.involvedObject?.name === name && event.reason === 'StageFailed' && message.test(event.message ?? ''),
      ),
  )
const makeConfigMap = (name: string, label: string, place = namespace) =>
  admin.create(kinds.ConfigMap, { metadata: { name, namespace: place, labels: { [label]: 'true' } } })
const untilData = async (name: string, data: string, place = namespace) =>
  await until(
    () => admin.get(kinds.ConfigMap, { namespace: place, name }),
    (object) => object.data?.by === data,
  )
const writes = (label: string, text: string) =>
  `{resourceRef: {apiGroup: v1, kind: ConfigMap}, selector: {matchLabels: {${label}: 'true'}, ` +
  `matchExpressions: [{key: .data.by, operator: NotIn, values: [${text}]}]}, ` +
  `next: {patches: [{root: data, template: 'by: ${text}'}]}}`

test('Stages can patch a custom resource and its status, change its finalizers, create Events and delete the resource', async () => {
  await admin.create(kinds.CustomResourceDefinition, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { status: {} },
        },
      ],
    },
  } as never)
  const widget = 'resourceRef: {apiGroup: example.com/v1, kind: Widget}'
  const alive = '{key: .metadata.deletionTimestamp, operator: DoesNotExist}'
  await apply(
    admin,
    'widget-begin',
    `{${widget}, selector: {matchExpressions: [${alive}, {key: .status.phase, operator: DoesNotExist}]},
      immediateNextStage: true,
      next: {event: {type: Normal, reason: Begun, message: begun}, finalizers: {add: [{value: example.com/sim}]},
        patches: [
          {root: metadata, template: 'labels: {name: {{ .metadata.name | Quote }}}'},
          {subresource: status, root: status, template: 'phase: Begun'}]}}`,
  )
  await apply(
    admin,
    'widget-run',
    `{${widget}, selector: {matchExpressions: [${alive}, {key: .status.phase, operator: In, values: [Begun]}]},
      next: {patches: [{subresource: status, type: json, root: status, template: '[{op: replace, path: /phase, value: Running}]'}]}}`,
  )
  await apply(
    admin,
    'widget-end',
    `{${widget}, selector: {matchLabels: {end: 'true'}, matchExpressions: [${alive}]}, weight: 1, next: {delete: true}}`,
  )
  await apply(
    admin,
    'widget-gone',
    `{${widget}, selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]},
      next: {finalizers: {empty: true}}}`,
  )
  await until(
    () =>
      admin
        .create(widgets, { metadata: { name: 'w', namespace } })
        .catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error))),
    (made) => made !== undefined,
  )
  type Widget = ApiObject & { readonly status?: { readonly phase?: string } }
  const read = () => admin.get<Widget>(widgets, { namespace, name: 'w' })
  const running = await until(read, ({ status }) => status?.phase === 'Running')
  assert.deepEqual(running.metadata.finalizers, ['example.com/sim'])
  assert.deepEqual(running.metadata.labels, { name: 'w' })
  await untilTrue(async () =>
    (await admin.list(kinds.Event, { namespace })).items.some(
      ({ involvedObject, reason }) => involvedObject?.kind === 'Widget' && reason === 'Begun',
    ),
  )
  assert.equal(conditionOf(await stage('widget-run'))?.status, 'True')
  await admin.patch(widgets, { namespace, name: 'w' }, { patch: { merge: { metadata: { labels: { end: 'true' } } } } })
  await untilTrue(async () => read().then(() => false, isNotFound))
})

test('a Stage may read and write only what its author may read and write', async () => {
  await makeConfigMap('target', 'escalate')
  await apply(alice, 'escalate', writes('escalate', 'alice'))
  await untilCondition('escalate', /User "alice" cannot list resource "configmaps"/i)
  await admin.delete(stageType, { name: 'escalate' })
  await allow('reader', [''], ['configmaps'], ['get', 'list', 'watch'])
  await apply(alice, 'escalate-2', writes('escalate', 'alice'))
  await untilFailure('target', /stage escalate-2: .*User "alice" cannot patch resource "configmaps"/i)
  assert.equal((await admin.get(kinds.ConfigMap, { namespace, name: 'target' })).data, undefined)
  await admin.create(kinds.Namespace, { metadata: { name: 'own' } })
  await makeConfigMap('mine', 'escalate', 'own')
  await admin.create(kinds.RoleBinding, {
    metadata: { name: 'editor', namespace: 'own' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  })
  await admin.delete(stageType, { name: 'escalate-2' })
  await apply(alice, 'escalate-3', writes('escalate', 'alice'))
  await untilData('mine', 'alice', 'own')
  assert.equal((await admin.get(kinds.ConfigMap, { namespace, name: 'target' })).data, undefined)
})

test('a Stage for pods acts with the permissions of its author', async () => {
  await apply(
    alice,
    'pod-escalate',
    `{resourceRef: {kind: Pod}, selector: {matchLabels: {pod: 'true'}}, next: {delete: true,
      event: {type: Normal, reason: Forged, message: x}, finalizers: {add: [{value: example.com/x}]}}}`,
  )
  await untilTrue(async () => conditionOf(await stage('pod-escalate'))?.status === 'True')
  await admin.create(kinds.Pod, {
    metadata: { name: 'p', namespace, labels: { pod: 'true' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  })
  await untilFailure('p', /stage pod-escalate: .*User "alice" cannot patch resource "pods"/i)
  const { metadata } = await admin.get(kinds.Pod, { namespace, name: 'p' })
  assert.equal(metadata.finalizers, undefined)
  const { items } = await admin.list(kinds.Event, { namespace })
  assert.ok(items.every(({ reason }) => reason !== 'Forged'))
  await admin.delete(stageType, { name: 'pod-escalate' })
})

test('a Stage impersonates only users whom its author may impersonate', async () => {
  await makeConfigMap('borrowed', 'borrow')
  const spec = writes('borrow', 'root').replace('root: data', 'impersonation: {username: admin}, root: data')
  await apply(alice, 'borrow', spec)
  await untilFailure('borrowed', /stage borrow: .*User "alice" cannot impersonate resource "users"/i)
  await allow('impersonator', [''], ['users'], ['impersonate'])
  await admin.create(kinds.ClusterRoleBinding, {
    metadata: { name: 'bob' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  })
  await makeConfigMap('lent', 'lend')
  await apply(alice, 'lend', writes('lend', 'bob').replace('root: data', 'impersonation: {username: bob}, root: data'))
  const { metadata } = await untilData('lent', 'bob')
  assert.ok(metadata.managedFields !== undefined)
})

test('clients cannot change the recorded author of a Stage, except by changing its specification', async () => {
  const spec = '{resourceRef: {kind: Pod}}'
  const forged = stageOf(`{metadata: {name: forged}, spec: ${spec}}`)
  const adminAuthor = JSON.stringify({ name: 'admin', uid: '', groups: ['system:masters'], extra: {} })
  const claim = { ...forged, metadata: { ...forged.metadata, annotations: { [authorKey]: adminAuthor } } }
  const authorOf = ({ metadata }: KwokObject) => readAuthor(metadata.annotations?.[authorKey] ?? '')?.name
  assert.equal(authorOf(await alice.create(stageType, claim)), 'alice')
  const annotations = { [authorKey]: adminAuthor }
  const name = { name: 'forged' }
  assert.equal(
    authorOf(await alice.patch(stageType, name, { patch: { merge: { metadata: { annotations } } } })),
    'alice',
  )
  const removal = { merge: { metadata: { annotations: { [authorKey]: null } } } }
  assert.equal(authorOf(await alice.patch(stageType, name, { patch: removal })), 'alice')
  const current = await stage('forged')
  const withClaim = { ...current, metadata: { ...current.metadata, annotations } }
  assert.equal(authorOf(await alice.update(stageType, withClaim, { subresource: 'status' })), 'alice')
  assert.equal(
    authorOf(await admin.patch(stageType, name, { patch: { merge: { metadata: { labels: { a: 'b' } } } } })),
    'alice',
  )
  assert.equal(authorOf(await admin.patch(stageType, name, { patch: { merge: { spec: { weight: 2 } } } })), 'admin')
  assert.equal(authorOf(await alice.patch(stageType, name, { patch: { merge: { spec: { weight: 3 } } } })), 'alice')
})

test('the condition of a Stage names a kind that the server does not serve', async () => {
  await apply(admin, 'missing', '{resourceRef: {apiGroup: v1, kind: Gadget}, selector: {}}')
  await untilCondition('missing', /the server has no kind Gadget of v1/)
  await apply(admin, 'missing-group', '{resourceRef: {apiGroup: missing.example.com/v1, kind: Gadget}, selector: {}}')
  await untilCondition('missing-group', /could not find/)
})

test('a Stage that always applies to an object is applied at most once a second', async () => {
  await makeConfigMap('busy', 'busy')
  const patch = "{root: data, template: '{at: {{ Now | Quote }}, version: {{ .metadata.resourceVersion | Quote }}}'}"
  await apply(
    admin,
    'busy',
    `{resourceRef: {kind: ConfigMap}, selector: {matchLabels: {busy: 'true'}}, next: {patches: [${patch}]}}`,
  )
  const times: string[] = []
  for await (const event of admin.watch(kinds.ConfigMap, { namespace })) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== 'busy') continue
    if (event.object.data !== undefined) times.push(event.object.data.at!)
    if (times.length >= 3) break
  }
  await admin.delete(stageType, { name: 'busy' })
  assert.equal(new Set(times).size, 3, times.join())
})
