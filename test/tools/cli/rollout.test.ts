/**
 * Tests the rollout history of workloads. The test creates the revisions that controllers would create. kubectl and
 * orchctl then read the revisions and roll back side by side. The progress of a rollout is tested with statuses,
 * without a server.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Subject } from '../../../src/tools/cli/arguments/subjects.ts'
import { progressOf } from '../../../src/tools/cli/commands/rollout/progress.ts'
import type { Workload } from '../../../src/tools/cli/commands/rollout/workloads.ts'
import { serveUp } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { configOf, orchctl } from '../../support/orchctl.ts'
import { withoutRootCa } from '../../support/server.ts'

const server = await serveUp({ after }, ['--profile=kubernetes', withoutRootCa])

interface Made {
  body: { metadata: { uid: string }; spec: { template: object } }
}

const templateOf = (image: string, labels: object = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { containers: [{ name: 'a', image }] },
})

async function make(path: string, body: object): Promise<Made['body']> {
  const { status, body: made } = (await server.client().post(path, body)) as Made & { status: number }
  assert.equal(status, 201, JSON.stringify(made))
  return made
}

/** Revision numbers have 64 bits. */
const large = '9007199254740993'

/** Creates a deployment with two replica sets and a daemon set with two revisions, as their controllers would. */
async function fill(namespace: string): Promise<void> {
  await make('/api/v1/namespaces', { metadata: { name: namespace } })
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const selector = { matchLabels: { app: 'web' } }
  const spec = { selector, template: templateOf('nginx:2') }
  const { metadata } = await make(`${apps}/deployments`, { metadata: { name: 'web' }, spec })
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid, controller: true }
  for (const number of [1, 2]) {
    const annotations = {
      'deployment.kubernetes.io/revision': number === 1 ? '1' : large,
      'kubernetes.io/change-cause': `cause ${number}`,
    }
    const template = templateOf(`nginx:${number}`, { 'pod-template-hash': `h${number}` })
    await make(`${apps}/replicasets`, {
      metadata: { name: `web-${number}`, annotations, labels: { app: 'web' }, ownerReferences: [owner] },
      spec: { replicas: 0, selector: { matchLabels: template.metadata.labels }, template },
    })
  }
  const set = await make(`${apps}/daemonsets`, { metadata: { name: 'logs' }, spec })
  const setOwner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: set.metadata.uid, controller: true }
  for (const number of [1, 2])
    await make(`${apps}/controllerrevisions`, {
      metadata: { name: `logs-${number}`, labels: { app: 'web' }, ownerReferences: [setOwner] },
      data: { spec: { template: { ...templateOf(`nginx:${number}`), $patch: 'replace' } } },
      revision: number,
    })
}

before(async () => {
  await fill('ours')
  await fill('theirs')
})

for (const line of [
  'rollout history deploy/web',
  'rollout history deploy/web --revision=1',
  'rollout history deploy/web --revision=9',
  `rollout history deploy/web --revision=${large}`,
  'rollout history ds/logs',
  'rollout history ds/logs --revision=2',
  'rollout undo deploy/web --dry-run=client',
  'rollout undo deploy/web --to-revision=7',
  'rollout undo deploy/web --to-revision=1',
  'get deploy web -o jsonpath={.metadata.annotations}{.spec.template}',
  'rollout undo deploy/web --to-revision=1',
  'rollout undo ds/logs',
  'get ds logs -o jsonpath={.spec.template}',
  'rollout undo ds/logs --to-revision=9',
])
  test(`orchctl rollout prints the same output as kubectl: ${line}`, async () => {
    const args = line.split(' ')
    const [ours, theirs] = await Promise.all([
      orchctl(['-n', 'ours', ...args], { env: { KUBECONFIG: configOf(server) } }),
      kubectl(server, ['-n', 'theirs', ...args]),
    ])
    assert.deepEqual(ours, theirs)
  })

test('orchctl rollout with -o prints the objects that store the revisions', async () => {
  const run = async (line: string) =>
    (await orchctl(['-n', 'ours', ...line.split(' ')], { env: { KUBECONFIG: configOf(server) } })).stdout
  assert.match(await run('rollout history ds/logs -o name'), /^controllerrevision\.apps\/logs-1\n(?:controller.*\n)*$/)
  assert.equal(
    await run('rollout history ds/logs --revision=2 -o jsonpath={.kind}{.data.spec.template.spec.containers[0].image}'),
    'ControllerRevisionnginx:2',
  )
  assert.match(
    await run('rollout history deploy/web -o yaml'),
    /^apiVersion: apps\/v1\nkind: ReplicaSet\n[\s\S]*\n---\n/,
  )
})

describe('rollout progress messages', () => {
  const of = (kind: string, spec: Workload['spec'], status: Workload['status']) => {
    const subject = { type: { group: 'apps', kind }, name: { name: 'w' } } as Subject
    const metadata = { name: 'w', generation: 2 }
    const rolling = { updateStrategy: { type: 'RollingUpdate' } }
    return progressOf(subject, {
      apiVersion: 'apps/v1',
      kind,
      metadata,
      spec: { ...rolling, ...spec },
      status: status!,
    })
  }
  const seen = { observedGeneration: 2 }

  for (const [kind, spec, status, text, done] of [
    ['Deployment', {}, { observedGeneration: 1 }, 'Waiting for deployment spec update to be observed...', false],
    ['Deployment', { replicas: 3 }, { updatedReplicas: 1 }, '1 out of 3 new replicas have been updated...', false],
    [
      'Deployment',
      { replicas: 1 },
      { updatedReplicas: 1, replicas: 3 },
      '2 old replicas are pending termination...',
      false,
    ],
    [
      'Deployment',
      { replicas: 1 },
      { updatedReplicas: 1, replicas: 1 },
      '0 of 1 updated replicas are available...',
      false,
    ],
    ['Deployment', { replicas: 0 }, {}, 'deployment "w" successfully rolled out', true],
    [
      'DaemonSet',
      {},
      { desiredNumberScheduled: 2, updatedNumberScheduled: 1 },
      '1 out of 2 new pods have been updated...',
      false,
    ],
    [
      'DaemonSet',
      {},
      { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
      '1 of 2 updated pods are available...',
      false,
    ],
    ['DaemonSet', {}, {}, 'daemon set "w" successfully rolled out', true],
    ['StatefulSet', {}, { observedGeneration: 0 }, 'Waiting for statefulset spec update to be observed...', false],
    ['StatefulSet', { replicas: 2 }, { readyReplicas: 1 }, 'Waiting for 1 pods to be ready...', false],
    [
      'StatefulSet',
      { replicas: 1 },
      { readyReplicas: 1, updateRevision: 'b', currentRevision: 'a' },
      'waiting for statefulset rolling update to complete 0 pods at revision b...',
      false,
    ],
    [
      'StatefulSet',
      { replicas: 1 },
      { readyReplicas: 1, currentReplicas: 1, updateRevision: 'a', currentRevision: 'a' },
      'statefulset rolling update complete 1 pods at revision a...',
      true,
    ],
  ] as const)
    test(`${kind}: ${text}`, () => {
      const progress = of(kind, spec, { ...seen, ...status })
      assert.ok(progress.text.endsWith(`${text}\n`), progress.text)
      assert.equal(progress.done, done)
    })

  test('the rollout status of a workload with a partition counts only the pods above the partition', () => {
    const partitioned = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }, replicas: 3 }
    const text = of('StatefulSet', partitioned, { ...seen, readyReplicas: 3, updatedReplicas: 1 }).text
    assert.equal(text, 'partitioned roll out complete: 1 new pods have been updated...\n')
  })

  test('orchctl rollout status returns an error for a rollout that cannot finish', () => {
    const conditions = [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }]
    assert.throws(() => of('Deployment', {}, { ...seen, conditions }), /exceeded its progress deadline/)
    assert.throws(
      () => of('DaemonSet', { updateStrategy: { type: 'OnDelete' } }, seen),
      /only available for RollingUpdate/,
    )
  })
})
