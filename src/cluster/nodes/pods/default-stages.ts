/**
 * The default lifecycle of pods, used if no stage file is given. A pod starts immediately and becomes ready, the pods
 * of a Job succeed after one second, and a deleted pod is removed after one second. Annotations on a pod change its
 * lifecycle (see docs/operate/nodes.md).
 */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { kwokApiVersion } from '../kwok/kinds.ts'
import { type SimulationKeys, simulationKeys } from './simulation-keys.ts'

const lives = [rule('.metadata.deletionTimestamp', 'DoesNotExist')]
const pending = [...lives, rule('.status.phase', 'In', ['Pending', 'Unknown'])]
const isActive = rule('.status.phase', 'NotIn', ['Succeeded', 'Failed'])
const running = [
  ...[...lives, rule('.status.phase', 'In', ['Running'])],
  rule('.status.containerStatuses[].state.running', 'Exists'),
]
const isReady = '.status.conditions[] | select( .type == "ContainersReady" ) | .status'
const startEvent = { type: 'Normal', reason: 'Started', message: 'Started the simulated containers' }

/** Returns the default stages for pods, in the format of a stage file. */
export function defaultPodStages(vendor: Vendor): Json[] {
  const keys = simulationKeys(vendor)
  return [...beginnings(keys), ...lifetimes(keys), ...endings(keys)]
}

function at(key: string): string {
  return `.metadata.annotations[${JSON.stringify(key)}]`
}

/** Returns the stages that start a pod's containers, delay the start or simulate an image pull error. */
function beginnings(keys: SimulationKeys): JsonObject[] {
  const delaysReadiness = [at(keys.ready), at(keys.readyAfter), '.spec.containers[].readinessProbe'].join(', ')
  const isWaiting = '.status.containerStatuses[].state.waiting'
  const hasVolumes = [rule(at(keys.volumesAfter), 'DoesNotExist')]
  const lacksVolumes = [rule(at(keys.volumesAfter), 'Exists')]
  const starts = (name: string, rules: readonly JsonObject[], delay: JsonObject) =>
    (
      [
        [name, 'DoesNotExist', 'Start'],
        [`${name}-unready`, 'Exists', 'StartUnready'],
      ] as const
    ).map(([stageName, operator, step]) =>
      stage(stageName, [...pending, canPull(keys), ...rules, rule(delaysReadiness, operator)], {
        delay,
        next: { step, event: startEvent },
      }),
    )
  return [
    ...starts('pod-start', hasVolumes, from(0, at(keys.startAfter))),
    ...starts('pod-start-late', [...lacksVolumes, rule(isWaiting, 'Exists')], from(0, at(keys.volumesAfter))),
    stage('pod-wait-for-volumes', [...pending, canPull(keys), ...lacksVolumes, rule(isWaiting, 'DoesNotExist')], {
      next: waits('ContainerCreating', '', {
        type: 'Warning',
        reason: 'FailedMount',
        message: 'Unable to attach or mount volumes: the volumes are slow: simulated failure',
      }),
    }),
    stage(
      'pod-image-pull-error',
      [...lives, isActive, cannotPull(keys), rule(`${isWaiting}.reason`, 'NotIn', [noImage])],
      {
        next: waits(noImage, pullError, { type: 'Warning', reason: 'Failed', message: pullError }),
      },
    ),
  ]
}

const outOfMemory = 'OOMKilled'
const noImage = 'ImagePullBackOff'
const pullError = 'the image cannot be pulled: simulated failure'

function canPull(keys: SimulationKeys): JsonObject {
  return rule(at(keys.start), 'NotIn', ['image-pull-error'])
}

function cannotPull(keys: SimulationKeys): JsonObject {
  return rule(at(keys.start), 'In', ['image-pull-error'])
}

function waits(reason: string, message: string, event: JsonObject): JsonObject {
  return { step: 'Wait', reason, message, event }
}

/** Returns the stages in which running containers become ready, exit and restart. */
function lifetimes(keys: SimulationKeys): JsonObject[] {
  const ends = [at(keys.runFor), at(keys.exitCode)].join(', ')
  const waitingReason = '.status.containerStatuses[].state.waiting.reason'
  const isJob = rule('.metadata.ownerReferences[].kind', 'In', ['Job'])
  const failures = { expressionFrom: '.status.containerStatuses[].restartCount' }
  return [
    stage(
      'pod-ready',
      [...running, canPull(keys), rule(isReady, 'NotIn', ['True']), rule(at(keys.ready), 'NotIn', ['never'])],
      {
        delay: from(0, `${at(keys.readyAfter)}, .spec.containers[].readinessProbe.initialDelaySeconds`),
        next: { step: 'BecomeReady' },
      },
    ),
    stage(
      'pod-complete',
      [...running, canPull(keys), isJob, rule(ends, 'DoesNotExist'), rule(isReady, 'In', ['True'])],
      {
        delay: from(1000),
        next: { step: 'End' },
      },
    ),
    stage(
      'pod-unready',
      [...running, canPull(keys), rule(isReady, 'In', ['True']), rule(at(keys.ready), 'In', ['never'])],
      {
        next: {
          step: 'BecomeUnready',
          event: { type: 'Warning', reason: 'Unhealthy', message: 'Readiness probe failed: simulated failure' },
        },
      },
    ),
    ...[['pod-end', 'NotIn', ''] as const, ['pod-end-out-of-memory', 'In', outOfMemory] as const].map(
      ([name, operator, reason]) =>
        stage(
          name,
          [...running, canPull(keys), rule(ends, 'Exists'), rule(at(keys.exitReason), operator, [outOfMemory])],
          {
            delay: from(1000, at(keys.runFor)),
            next: { step: 'End', reason, exitCodeFrom: { expressionFrom: at(keys.exitCode) } },
          },
        ),
    ),
    stage('pod-restart', [...lives, canPull(keys), rule(waitingReason, 'In', ['CrashLoopBackOff'])], {
      delay: { ...from(10_000, at(keys.restartAfter)), backoffFrom: failures },
      next: { step: 'Restart', event: startEvent },
    }),
    stage(
      'pod-restart-with-image',
      [...lives, canPull(keys), rule('.status.phase', 'In', ['Running']), rule(waitingReason, 'In', [noImage])],
      { next: { step: 'Restart', event: startEvent } },
    ),
  ]
}

/** Returns the stages in which a deleted pod ends, immediately or after its grace period. */
function endings(keys: SimulationKeys): JsonObject[] {
  const termination = at(keys.termination)
  const deleted = rule('.metadata.deletionTimestamp', 'Exists')
  const next = {
    step: 'Terminate',
    delete: true,
    event: { type: 'Normal', reason: 'Killing', message: 'Stopping the simulated containers' },
  }
  const grace = { expressionFrom: '.metadata.deletionTimestamp' }
  return [
    stage('pod-delete', [deleted, rule(termination, 'NotIn', ['ignore'])], {
      delay: from(1000),
      next,
    }),
    stage('pod-delete-late', [deleted, rule(termination, 'In', ['ignore'])], { delay: { durationFrom: grace }, next }),
  ]
}

function stage(name: string, matchExpressions: JsonObject[], rest: JsonObject): JsonObject {
  const spec = { resourceRef: { apiGroup: 'v1', kind: 'Pod' }, selector: { matchExpressions }, ...rest }
  return { apiVersion: kwokApiVersion, kind: 'Stage', metadata: { name }, spec }
}

function rule(key: string, operator: string, values: string[] = []): JsonObject {
  return { key, operator, values }
}

function from(durationMilliseconds: number, expressionFrom?: string): JsonObject {
  return { durationMilliseconds, ...(expressionFrom === undefined ? {} : { durationFrom: { expressionFrom } }) }
}
