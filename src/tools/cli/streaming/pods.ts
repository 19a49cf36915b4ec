/**
 * Selects the pod and the container for a command. The pod is specified as `POD`, or as the `TYPE/NAME` of an object
 * with pods. The container is specified with `-c`. Without `-c`, the default-container annotation of the pod determines
 * the container. Without that annotation, the first container is selected. If there are several containers, the
 * selected container is reported.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { pause } from '../../../base/concurrency/abort.ts'
import { flag, UsageError } from '../../../base/flags/flags.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { readTargetWords } from '../arguments/targets.ts'
import { readTime } from '../connection/connection-flags.ts'
import { objectNameIn, type Session } from '../connection/session.ts'
import { escapeLine } from '../printers/escape.ts'

export interface Pod extends ApiObject {
  spec?: {
    containers?: Container[]
    initContainers?: Container[]
    ephemeralContainers?: Container[]
  }
  status?: { phase?: string; conditions?: { type?: string; status?: string }[] }
}

export interface Container {
  name?: string
  tty?: boolean
  stdin?: boolean
  ports?: { name?: string; containerPort?: number; protocol?: string }[]
}

export const podRunningTimeoutFlag = flag({
  name: 'pod-running-timeout',
  value: 'TIME',
  default: '1m',
  read: readTime,
  help: 'maximum time to wait for a pod to start running',
})

/**
 * Finds the pod for `NAME`, `TYPE/NAME` or `TYPE NAME`. For an object with pods, waits until one of its pods is
 * running.
 */
export async function findPod(session: Session, words: readonly string[], waitMs = 0): Promise<Pod> {
  const { pods, owner } = await podsOnce(isRunning, session, { words, waitMs })
  const [pod] = pods
  if (pod === undefined) throw new UsageError(`${owner} has no pods`)
  if (pods.length > 1)
    session.context.err(`Found ${pods.length} pods, using pod/${escapeLine(pod.metadata.name ?? '')}\n`)
  return pod
}

const lookMs = 500

/** Returns all pods of the named object. Waits until at least one pod exists. */
export async function podsOnceThere(session: Session, words: readonly string[], waitMs: number): Promise<FoundPods> {
  return await podsOnce(() => true, session, { words, waitMs })
}

/** Searches repeatedly until a suitable pod exists or the timeout expires. */
async function podsOnce(
  isWanted: (pod: Pod) => boolean,
  session: Session,
  { words, waitMs }: { words: readonly string[]; waitMs: number },
): Promise<FoundPods> {
  const end = performance.now() + waitMs
  for (;;) {
    const result = await findPods(session, words)
    if (result.isPod || result.pods.some(isWanted) || performance.now() + lookMs > end) return result
    await pause(lookMs, session.context.signal)
  }
}

function isRunning(pod: Pod): boolean {
  return rank(pod) < 2
}

export interface FoundPods {
  readonly pods: readonly Pod[]
  /** Display name of the pods' owner. */
  readonly owner: string
  readonly isPod: boolean
}

/** Returns all pods of the named object, running pods first, and the display name of the object. */
async function findPods(session: Session, words: readonly string[]): Promise<FoundPods> {
  const { client, context } = session
  const [first = '', second, ...more] = words
  if (first === '' || more.length > 0) throw new UsageError('specify one pod: POD or TYPE/NAME')
  const [targetWord] = readTargetWords(second === undefined && !first.includes('/') ? ['pod', first] : words)
  const type = await session.types.typeNamed(targetWord!.type)
  const name = objectNameIn(session, type, targetWord!.name ?? '')
  const owner = `${targetWord!.type}/${targetWord!.name}`
  if (type.kind === 'Pod' && type.group === '')
    return { pods: [await client.get(kinds.Pod, name, { signal: context.signal })], owner, isPod: true }
  const object = await client.get(type, name, { signal: context.signal })
  const labelSelector = selectorOf(type, object)
  if (labelSelector === undefined) throw new UsageError(`${owner} has no pods: a ${type.kind} does not select pods`)
  const { items } = await client.list(kinds.Pod, {
    ...(name.namespace === undefined ? {} : { namespace: name.namespace }),
    labelSelector,
    signal: context.signal,
  })
  return { pods: items.toSorted((a, b) => rank(a) - rank(b)), owner, isPod: false }
}

/** Returns the rank of a pod for sorting: ready pods come first, followed by other running pods. */
function rank({ status }: Pod): number {
  if (status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return 0
  return status?.phase === 'Running' ? 1 : 2
}

interface Selecting {
  spec?: { selector?: { matchLabels?: Labels; matchExpressions?: Expression[] } | Labels }
}

type Labels = { readonly [key: string]: string }

interface Expression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Returns the label selector as a query parameter, or undefined if the object selects no pods. */
function selectorOf({ kind }: DiscoveredType, object: ApiObject): string | undefined {
  const selector = (object as Selecting).spec?.selector
  if (selector === undefined) return undefined
  if (kind === 'Service' || kind === 'ReplicationController') return pairs(selector as Labels)
  const { matchLabels = {}, matchExpressions = [] } = selector as Exclude<typeof selector, Labels>
  return [pairs(matchLabels), ...matchExpressions.map(expression)].filter((part) => part !== '').join(',')
}

function pairs(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

function expression({ key, operator, values = [] }: Expression): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
}

const defaultAnnotation = 'kubectl.kubernetes.io/default-container'

/** Returns all containers, with init and ephemeral containers last. */
export function containersOf({ spec = {} }: Pod): Container[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])]
}

/**
 * Returns the container with this name. Throws UsageError if no such container exists. The name '' selects the default
 * container, which is reported unless `quiet` is set.
 */
export function chooseContainer(
  { context }: Pick<Session, 'context'>,
  pod: Pod,
  { container, quiet = false }: { container: string; quiet?: boolean },
): Container {
  const all = containersOf(pod)
  const podName = escapeLine(pod.metadata.name ?? '')
  if (container !== '') {
    const matchingContainer = all.find(({ name }) => name === container)
    if (matchingContainer === undefined)
      throw new UsageError(
        `container ${container} not found in pod ${podName}; its containers are: ${containerNames(pod)}`,
      )
    return matchingContainer
  }
  const annotated = pod.metadata.annotations?.[defaultAnnotation] ?? ''
  const defaultContainer = all.find(({ name }) => name === annotated)
  if (defaultContainer !== undefined) return defaultContainer
  const first = pod.spec?.containers?.[0] ?? all[0]
  if (first === undefined) throw new UsageError(`pod ${podName} has no containers`)
  if (all.length > 1 && !quiet)
    context.err(`Defaulted container ${JSON.stringify(first.name)} out of: ${containerNames(pod)}\n`)
  return first
}

/** Lists containers as kubectl does, such as `app, debugger (ephem), setup (init)`. */
function containerNames({ spec = {} }: Pod): string {
  const { containers = [], ephemeralContainers = [], initContainers = [] } = spec
  const markedNames = (list: readonly Container[], mark: string) =>
    list.map(({ name = '' }) => `${escapeLine(name)}${mark}`)
  return [
    ...markedNames(containers, ''),
    ...markedNames(ephemeralContainers, ' (ephem)'),
    ...markedNames(initContainers, ' (init)'),
  ].join(', ')
}
