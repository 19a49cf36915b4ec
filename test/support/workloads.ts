/**
 * Helpers for tests of workload loops: pod templates, pods that become ready as they would on a node, and lagging
 * watches.
 */

import type { Pod } from '../../src/api/kinds/core/pod.ts'
import type { ObjectBase } from '../../src/api/model/object.ts'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import type { Client } from '../../src/client/requests/client.ts'
import type { ResourceType } from '../../src/client/requests/resource-type.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { ignoreNotFound } from '../../src/cluster/controllers/ignore-not-found.ts'
import { controllerOf } from '../../src/cluster/controllers/workloads/ownership.ts'
import { until } from './until.ts'

export const namespace = 'default'
/** Flags for servers without the loops that create service accounts or mark new nodes as ready. */
export const withoutAccounts = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition']

/** Returns a pod template with the label `app`. A different image results in a different template. */
export function template(app: string, image = 'one') {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image }] } }
}

export const selector = (app: string) => ({ matchLabels: { app } })

/** Returns the pods that an owner controls. */
export async function podsOf(client: Client, owner: ObjectBase): Promise<Pod[]> {
  const { items } = await client.list(kinds.Pod, { namespace })
  return items.filter((pod) => controllerOf(pod)?.uid === owner.metadata.uid)
}

/** Returns the pods with this `app` label as soon as the given number of them exist. */
export async function untilPods(client: Client, app: string, count: number): Promise<Pod[]> {
  return await until(
    async () => (await client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })).items,
    (items) => items.length === count,
  )
}

/** Returns the object as soon as it exists and matches. */
export async function untilObject<T extends ObjectBase>(
  client: Client,
  type: ResourceType<T>,
  { name, wanted }: { readonly name: string; readonly wanted: (object: T) => boolean },
): Promise<T> {
  const ask = () => ignoreNotFound(client.get(type, { namespace, name }))
  return (await until(ask, (object) => object !== undefined && wanted(object)))!
}

/** Sets the status of a pod to running and ready, as its node would. */
export async function setReady(client: Client, { metadata: { name = '' } }: Pod, since?: number): Promise<void> {
  const lastTransitionTime = new Date(since ?? Date.now()).toISOString()
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] }
  const patch = { merge: { status } }
  await client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
}

/** Marks every new pod as ready until the signal aborts. */
export async function makeAllReady(client: Client, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of client.watch(kinds.Pod, { namespace, signal }))
      if (event.type === 'ADDED' && event.object.status?.phase === 'Pending')
        await setReady(client, event.object).catch(() => {})
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Creates a transport whose pod watch delays events while the gate is closed. A request that is aborted still ends. */
export function laggingWatch() {
  let gate: PromiseWithResolvers<void> | undefined
  return {
    close: () => {
      gate ??= Promise.withResolvers()
    },
    open: () => {
      gate?.resolve()
      gate = undefined
    },
    through:
      (send: Transport): Transport =>
      async (request) => {
        const answer = await send(request)
        if (!/^\/api\/v1\/pods\?.*watch=/.test(request.path)) return answer
        const aborted = new Promise<void>((resolve) => {
          request.signal.addEventListener('abort', () => resolve(), { once: true })
        })
        const held = async function* () {
          for await (const chunk of answer.body) {
            if (gate !== undefined) await Promise.race([gate.promise, aborted])
            yield chunk
          }
        }
        return { ...answer, body: held() }
      },
  }
}
