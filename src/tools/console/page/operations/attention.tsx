/**
 * Lists problems on the overview page: workloads with missing pods, failed Jobs, pods that cannot start, nodes that are
 * not ready, and the latest Warning Events.
 */
import type { ApiObject } from '../../../../api/model/object.ts'
import { type Condition, conditionsOf } from '../core/condition.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { Age, Card, Chip, type Tone } from '../parts/display.tsx'

interface Workload extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly numberReady?: number
  }
}

interface Problem {
  readonly type: Type
  readonly object: ApiObject
  readonly tone: Tone
  readonly text: string
  readonly since: string | undefined
}

const maxProblems = 30

export function Attention() {
  const problems = useProblems()
  const { kinds } = useConsoleContext()
  if (!kinds.store.value.isLoaded) return null
  return (
    <div class="cards">
      <Card title="Needs attention" wide>
        {problems.length === 0 && <p class="hint">Every workload and node is in order.</p>}
        <ul class="events">
          {problems.slice(0, maxProblems).map(({ type, object, tone, text, since }) => (
            <li key={`${type.plural}/${object.metadata.uid}`}>
              <Chip tone={tone}>{displayText(type.kind, 60)}</Chip>
              <span class="event-message">
                <a href={objectAddress(type, object.metadata)}>{displayText(nameOf(object), 300)}</a>{' '}
                {displayText(text, 500)}
              </span>
              <span class="sub">
                <Age since={since} />
              </span>
            </li>
          ))}
        </ul>
        {problems.length > maxProblems && <p class="hint">{problems.length - maxProblems} more</p>}
      </Card>
      <Warnings />
    </div>
  )
}

function useProblems(): Problem[] {
  const { kinds } = useConsoleContext()
  const deployments = kinds.builtIn('deployments', 'apps')
  const statefulSets = kinds.builtIn('statefulsets', 'apps')
  const daemonSets = kinds.builtIn('daemonsets', 'apps')
  const jobs = kinds.builtIn('jobs', 'batch')
  const pods = kinds.builtIn('pods', '')
  const nodes = kinds.builtIn('nodes', '')
  const failedPods = useObjects<Workload>(pods, { fieldSelector: 'status.phase=Failed' })
  const pendingPods = useObjects<Workload>(pods, { fieldSelector: 'status.phase=Pending' })
  return [
    ...find(nodes, useObjects<Workload>(nodes).objects, nodeProblem),
    ...find(deployments, useObjects<Workload>(deployments).objects, replicaProblem('availableReplicas')),
    ...find(statefulSets, useObjects<Workload>(statefulSets).objects, replicaProblem('readyReplicas')),
    ...find(daemonSets, useObjects<Workload>(daemonSets).objects, daemonProblem),
    ...find(jobs, useObjects<Workload>(jobs).objects, jobProblem),
    ...find(pods, failedPods.objects, podProblem),
    ...find(pods, pendingPods.objects, podProblem),
  ]
}

type Judge = (object: Workload) => Omit<Problem, 'type' | 'object'> | undefined

function find(type: Type | undefined, objects: readonly Workload[], judge: Judge): Problem[] {
  if (type === undefined) return []
  return objects.flatMap((object) => {
    const problem = judge(object)
    return problem === undefined ? [] : [{ type, object, ...problem }]
  })
}

function nodeProblem(node: Workload): ReturnType<Judge> {
  const ready = conditionOf(node, 'Ready')
  if (ready?.status === 'True') return undefined
  return { tone: 'bad', text: `is not ready${because(ready)}`, since: ready?.lastTransitionTime }
}

function replicaProblem(field: 'availableReplicas' | 'readyReplicas'): Judge {
  return (object) => {
    const desired = object.spec?.replicas ?? 1
    const count = object.status?.[field] ?? 0
    if (count >= desired) return undefined
    const stalled = conditionOf(object, 'ReplicaFailure') ?? conditionOf(object, 'Available')
    const word = field === 'readyReplicas' ? 'ready' : 'available'
    const text = `has ${count} of ${desired} replicas ${word}${because(stalled)}`
    return { tone: count === 0 ? 'bad' : 'warn', text, since: stalled?.lastTransitionTime }
  }
}

function daemonProblem({ status = {} }: Workload): ReturnType<Judge> {
  const { desiredNumberScheduled: desired = 0, numberReady = 0 } = status
  if (numberReady >= desired) return undefined
  return { tone: 'warn', text: `has ${numberReady} of ${desired} pods ready`, since: undefined }
}

function jobProblem(job: Workload): ReturnType<Judge> {
  const failed = conditionOf(job, 'Failed')
  if (failed?.status !== 'True') return undefined
  return { tone: 'bad', text: `failed${because(failed)}`, since: failed.lastTransitionTime }
}

/**
 * Returns the problem of a pod, if any. It is normal for a pod to wait a few seconds for a node or an image. A reason
 * reported by the scheduler, however, is a real problem.
 */
function podProblem(pod: Workload): ReturnType<Judge> {
  const { phase, reason } = pod.status ?? {}
  if (phase === 'Failed')
    return { tone: 'bad', text: `failed${reason ? `: ${reason}` : ''}`, since: pod.metadata.creationTimestamp }
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  return { tone: 'warn', text: `is not scheduled${because(scheduled)}`, since: scheduled.lastTransitionTime }
}

function conditionOf(object: Workload, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type)
}

function because(condition: Condition | undefined): string {
  const reason = condition?.message || condition?.reason
  return reason ? `: ${reason}` : ''
}

function nameOf({ metadata: { namespace, name = '' } }: ApiObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

interface WarningEvent extends ApiObject {
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly lastTimestamp?: string
  readonly eventTime?: string
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
}

const maxWarnings = 10

function Warnings() {
  const { kinds } = useConsoleContext()
  const type = kinds.builtIn('events', '')
  const { objects } = useObjects<WarningEvent>(type, { fieldSelector: 'type=Warning' })
  if (type === undefined || objects.length === 0) return null
  const time = (event: WarningEvent) => event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''
  const latest = [...objects].sort((a, b) => (time(a) < time(b) ? 1 : -1)).slice(0, maxWarnings)
  return (
    <Card title="Latest warnings" wide>
      <ul class="events">
        {latest.map((event) => (
          <li key={event.metadata.uid}>
            <Chip tone="warn">{displayText(event.reason, 60)}</Chip>
            <span class="event-message">
              <a href={objectAddress(type, event.metadata)}>
                {displayText(event.involvedObject?.kind, 60)} {displayText(event.involvedObject?.name, 200)}
              </a>{' '}
              {displayText(event.message, 500)}
            </span>
            <span class="sub">
              {(event.count ?? 1) > 1 && `${event.count} times, `}
              <Age since={time(event)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
