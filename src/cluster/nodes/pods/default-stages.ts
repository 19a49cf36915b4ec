/**
 * The default lifecycle of pods, used without a file of stages. A pod starts at once and becomes ready, pods of a Job
 * succeed after one second, and a deleted pod is removed after one second. Annotations of a pod change its lifecycle
 * (see docs/nodes.md).
 */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Returns the annotation keys by purpose. */
function simulationKeys(vendor: Vendor) {
  const key = (name: string) => vendorKey(vendor, name, 'simulation')
  return {
    /** `image-pull-error`: the containers never start. */
    start: key('start'),
    startAfter: key('start-after'),
    /** `never`: the containers run but do not become ready. */
    ready: key('ready'),
    readyAfter: key('ready-after'),
    /** Time after which the containers exit. */
    runFor: key('run-for'),
    /** Exit code of the containers. */
    exitCode: key('exit-code'),
    restartAfter: key('restart-after'),
    /** `ignore`: a deleted pod runs until its grace period ends. */
    termination: key('termination'),
  } as const
}

type Keys = ReturnType<typeof simulationKeys>

const lives = [rule('.metadata.deletionTimestamp', 'DoesNotExist')]
const pending = [...lives, rule('.status.phase', 'In', ['Pending', 'Unknown'])]
const running = [
  ...[...lives, rule('.status.phase', 'In', ['Running'])],
  rule('.status.containerStatuses[].state.running', 'Exists'),
]
const isReady = '.status.conditions[] | select( .type == "ContainersReady" ) | .status'
const startEvent = { type: 'Normal', reason: 'Started', message: 'Started the simulated containers' }

/** Returns Stage objects in the format of a file. */
export function defaultPodStages(vendor: Vendor): Json[] {
  const keys = simulationKeys(vendor)
  return [...beginnings(keys), ...lifetimes(keys), ...endings(keys)]
}

function at(key: string): string {
  return `.metadata.annotations[${JSON.stringify(key)}]`
}

/** Stages in which containers start, ready or not, or fail to start. */
function beginnings(keys: Keys): JsonObject[] {
  const startable = [...pending, rule(at(keys.start), 'NotIn', ['image-pull-error'])]
  const delaysReadiness = [at(keys.ready), at(keys.readyAfter), '.spec.containers[].readinessProbe'].join(', ')
  const delay = from(0, at(keys.startAfter))
  const noImage = [rule(at(keys.start), 'In', ['image-pull-error'])]
  const message = 'the image cannot be pulled: simulated by a pod annotation'
  return [
    stage('pod-start', [...startable, rule(delaysReadiness, 'DoesNotExist')], {
      delay,
      next: { step: 'Start', event: startEvent },
    }),
    stage('pod-start-unready', [...startable, rule(delaysReadiness, 'Exists')], {
      delay,
      next: { step: 'StartUnready', event: startEvent },
    }),
    stage(
      'pod-image-pull-error',
      [...pending, ...noImage, rule('.status.containerStatuses[].state.waiting', 'DoesNotExist')],
      {
        next: {
          step: 'Wait',
          reason: 'ImagePullBackOff',
          message,
          event: { type: 'Warning', reason: 'Failed', message },
        },
      },
    ),
  ]
}

/** Stages in which running containers become ready, exit and restart. */
function lifetimes(keys: Keys): JsonObject[] {
  const ends = [at(keys.runFor), at(keys.exitCode)].join(', ')
  const isJob = rule('.metadata.ownerReferences[].kind', 'In', ['Job'])
  const failures = { expressionFrom: '.status.containerStatuses[].restartCount' }
  return [
    stage('pod-ready', [...running, rule(isReady, 'NotIn', ['True']), rule(at(keys.ready), 'NotIn', ['never'])], {
      delay: from(0, `${at(keys.readyAfter)}, .spec.containers[].readinessProbe.initialDelaySeconds`),
      next: { step: 'BecomeReady' },
    }),
    stage('pod-complete', [...running, isJob, rule(ends, 'DoesNotExist'), rule(isReady, 'In', ['True'])], {
      delay: from(1000),
      next: { step: 'End' },
    }),
    stage('pod-end', [...running, rule(ends, 'Exists')], {
      delay: from(1000, at(keys.runFor)),
      next: { step: 'End', exitCodeFrom: { expressionFrom: at(keys.exitCode) } },
    }),
    stage(
      'pod-restart',
      [...lives, rule('.status.containerStatuses[].state.waiting.reason', 'In', ['CrashLoopBackOff'])],
      {
        delay: { ...from(10_000, at(keys.restartAfter)), backoffFrom: failures },
        next: { step: 'Restart', event: startEvent },
      },
    ),
  ]
}

/** Stages in which a deleted pod ends, soon or after its grace period. */
function endings(keys: Keys): JsonObject[] {
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
  return { apiVersion: 'kwok.x-k8s.io/v1alpha1', kind: 'Stage', metadata: { name }, spec }
}

function rule(key: string, operator: string, values: string[] = []): JsonObject {
  return { key, operator, values }
}

function from(durationMilliseconds: number, expressionFrom?: string): JsonObject {
  return { durationMilliseconds, ...(expressionFrom === undefined ? {} : { durationFrom: { expressionFrom } }) }
}
