/**
 * Tests a simulated cluster that is killed every few seconds for a minute while workloads are created, scaled and
 * rolled out. The cluster must reach the same final state as an undisturbed cluster, violate no limit, and create no
 * object twice.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import type { ObjectBase } from '../../../src/api/model/object.ts'
import { Informer } from '../../../src/client/informers/informer.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'
import { controlLoops } from '../../../src/cluster/controllers/all.ts'
import { controllerOf } from '../../../src/cluster/controllers/workloads/ownership.ts'
import { isActive } from '../../../src/cluster/controllers/workloads/pod-state.ts'
import { seeded } from '../../storage/store/random-source.ts'
import { startUp } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { namespace, selector, template } from '../../support/workloads.ts'

const nodes = 5
const replicas = 20
/** The default value of maxSurge and maxUnavailable, a quarter of the replicas. */
const surge = 5
const completions = 24
const kills = 15
const lifeMs = { shortest: 1500, longest: 5000 }
const patienceMs = 180_000

test('a cluster that is killed repeatedly reaches its desired state and never creates an object twice', {
  timeout: 600_000,
}, async (t) => {
  const random = seeded(Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32))
  const loops = controlLoops.map(({ name }) => name).join()
  const server = await startUp(t, [`--nodes=${nodes}`, '--node-volumes=false', `--controllers=*,${loops}`])
  const client = new Client(server.transport())
  const seen = follow(t, client)
  await createAll(client)
  const images = ['one']
  for (let kill = 0; kill < kills; kill++) {
    await pause(lifeMs.shortest + random.below(lifeMs.longest - lifeMs.shortest))
    await server.kill()
    await server.restart()
    if (kill % 4 === 1) {
      images.push(`image-${kill}`)
      await rollOut(client, images.at(-1)!)
    }
  }
  await assertEnd(client, images)
  assert.deepEqual(seen.faults, [])
  for (const job of ['plain', 'indexed']) assert.equal(seen.everMade(job), completions, `pods that the Job ${job} made`)
  t.diagnostic(`${kills} kills, ${seen.total()} pods`)
})

/** Records all pods that have ever existed, and every violation of a limit. The limits are checked at each event. */
function follow(t: TestContext, client: Client) {
  const made = new Map<string, Set<string>>()
  const faults: string[] = []
  const informer = new Informer(client, kinds.Pod, { onError: () => {}, backoff: { firstMs: 50, longestMs: 500 } })
  const owners = informer.index((pod) => [controllerOf(pod)?.kind])
  informer.onChange(({ object, previous }) => {
    if (object === undefined) return
    const app = object.metadata.labels?.app ?? ''
    made.set(app, (made.get(app) ?? new Set()).add(object.metadata.uid ?? ''))
    if (previous === undefined) faults.push(...brokenBounds(owners.get(controllerOf(object)?.kind ?? '')))
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  return {
    faults,
    everMade: (app: string) => made.get(app)?.size ?? 0,
    total: () => [...made.values()].reduce((sum, { size }) => sum + size, 0),
  }
}

/** Checks the current pods of one kind of workload. */
function brokenBounds(all: readonly Pod[]): string[] {
  const active = all.filter(isActive)
  const kind = controllerOf(all[0]!)?.kind
  if (kind === 'ReplicaSet' && active.length > replicas + surge) return [`a Deployment has ${active.length} pods`]
  if (kind !== 'DaemonSet') return []
  const places = active.flatMap(({ spec }) => spec?.nodeName ?? [])
  return new Set(places).size === places.length ? [] : [`a DaemonSet has two pods on one node: ${places.join()}`]
}

async function createAll(client: Client): Promise<void> {
  const workload = (name: string, more: object = {}) => ({
    metadata: { namespace, name },
    spec: { selector: selector(name), template: template(name), ...more },
  })
  await client.create(kinds.Deployment, workload('web', { replicas }))
  await client.create(kinds.StatefulSet, workload('db', { replicas: 3, serviceName: 'db' }))
  await client.create(kinds.DaemonSet, workload('agent'))
  for (const [name, completionMode] of [
    ['plain', 'NonIndexed'],
    ['indexed', 'Indexed'],
  ] as const) {
    const { metadata, spec } = template(name)
    const podTemplate = { metadata, spec: { ...spec, restartPolicy: 'Never' as const } }
    const jobSpec = { completions, completionMode, parallelism: 2, template: podTemplate }
    await client.create(kinds.Job, { metadata: { namespace, name }, spec: jobSpec })
  }
}

async function rollOut(client: Client, image: string): Promise<void> {
  for (const [type, name] of [
    [kinds.Deployment, 'web'],
    [kinds.StatefulSet, 'db'],
    [kinds.DaemonSet, 'agent'],
  ] as [ResourceType<ObjectBase>, string][]) {
    const patch = { strategic: { spec: { template: template(name, image) } } }
    await client.patch(type, { namespace, name }, { patch })
  }
}

async function assertEnd(client: Client, images: readonly string[]): Promise<void> {
  const ready = (image: string, count: number) => (app: string) => async () => {
    const { items } = await client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })
    const isRight = ({ spec, status }: Pod) =>
      spec?.containers?.[0]?.image === image &&
      status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')
    return items.length === count && items.every(isRight)
  }
  const image = images.at(-1)!
  const is = (told: boolean) => told
  await until(ready(image, replicas)('web'), is, patienceMs)
  await until(ready(image, 3)('db'), is, patienceMs)
  await until(ready(image, nodes)('agent'), is, patienceMs)
  for (const name of ['plain', 'indexed']) {
    const { status = {} } = await until(
      () => client.get(kinds.Job, { namespace, name }),
      (job) => job.status?.conditions?.some(({ type }) => type === 'Complete') ?? false,
      patienceMs,
    )
    assert.deepEqual([status.succeeded, status.failed ?? 0, status.active ?? 0], [completions, 0, 0], name)
  }
  const sets = (await client.list(kinds.ReplicaSet, { namespace })).items
  assert.equal(sets.length, images.length, 'a ReplicaSet for each template')
  const addresses = (await client.list(kinds.Pod, { namespace })).items.flatMap(({ status }) =>
    status?.phase === 'Running' ? (status.podIP ?? 'none') : [],
  )
  assert.equal(new Set(addresses).size, addresses.length, 'each pod has an address of its own')
}
