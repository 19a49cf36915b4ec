/** Describes the progress of a rollout in the same words as kubectl. The kind determines which replicas are counted. */
import { UsageError } from '../../../../base/flags/flags.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { escapeLine } from '../../printers/escape.ts'
import { rolloutKind, type Workload } from './workloads.ts'

export interface Progress {
  readonly text: string
  readonly done: boolean
}

/** Returns the progress of the rollout. Throws UsageError if the kind has no rollouts or the rollout cannot finish. */
export function progressOf(subject: Subject, workload: Workload): Progress {
  const kind = rolloutKind(subject)
  if (kind === undefined) throw new UsageError(`no status viewer has been implemented for ${subject.type.kind}`)
  return progressOfKind[kind](workload)
}

const progressOfKind = { Deployment: ofDeployment, DaemonSet: ofDaemonSet, StatefulSet: ofStatefulSet }

const waiting = (text: string): Progress => ({ text: `${text}\n`, done: false })
const done = (text: string): Progress => ({ text: `${text}\n`, done: true })
const quoted = ({ metadata }: Workload) => JSON.stringify(escapeLine(metadata.name ?? ''))

/** Whether the status is older than the spec, because the controller has not processed the latest change. */
function isUnseen({ metadata, status }: Workload): boolean {
  return (metadata.generation ?? 0) > (status?.observedGeneration ?? 0)
}

function ofDeployment(deployment: Workload): Progress {
  if (isUnseen(deployment)) return waiting('Waiting for deployment spec update to be observed...')
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = deployment.status ?? {}
  const desiredReplicas = deployment.spec?.replicas ?? 1
  const lead = `Waiting for deployment ${quoted(deployment)} rollout to finish:`
  if (conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded'))
    throw new UsageError(`deployment ${quoted(deployment)} exceeded its progress deadline`)
  if (updatedReplicas < desiredReplicas)
    return waiting(`${lead} ${updatedReplicas} out of ${desiredReplicas} new replicas have been updated...`)
  if (replicas > updatedReplicas)
    return waiting(`${lead} ${replicas - updatedReplicas} old replicas are pending termination...`)
  if (availableReplicas < updatedReplicas)
    return waiting(`${lead} ${availableReplicas} of ${updatedReplicas} updated replicas are available...`)
  return done(`deployment ${quoted(deployment)} successfully rolled out`)
}

function requireRollingUpdate({ spec }: Workload): void {
  if (spec?.updateStrategy?.type !== 'RollingUpdate')
    throw new UsageError('rollout status is only available for RollingUpdate strategy type')
}

function ofDaemonSet(set: Workload): Progress {
  requireRollingUpdate(set)
  if (isUnseen(set)) return waiting('Waiting for daemon set spec update to be observed...')
  const {
    desiredNumberScheduled: desiredReplicas = 0,
    updatedNumberScheduled: updated = 0,
    numberAvailable = 0,
  } = set.status ?? {}
  const lead = `Waiting for daemon set ${quoted(set)} rollout to finish:`
  if (updated < desiredReplicas)
    return waiting(`${lead} ${updated} out of ${desiredReplicas} new pods have been updated...`)
  if (numberAvailable < desiredReplicas)
    return waiting(`${lead} ${numberAvailable} of ${desiredReplicas} updated pods are available...`)
  return done(`daemon set ${quoted(set)} successfully rolled out`)
}

function ofStatefulSet(set: Workload): Progress {
  requireRollingUpdate(set)
  const { status = {}, spec } = set
  if (!status.observedGeneration || isUnseen(set))
    return waiting('Waiting for statefulset spec update to be observed...')
  const desiredReplicas = spec?.replicas ?? 1
  const { readyReplicas = 0, updatedReplicas = 0, currentReplicas = 0, currentRevision = '' } = status
  const { updateRevision = '' } = status
  if (readyReplicas < desiredReplicas)
    return waiting(`Waiting for ${desiredReplicas - readyReplicas} pods to be ready...`)
  const { partition } = spec?.updateStrategy?.rollingUpdate ?? {}
  if (partition !== undefined) return ofPartition(updatedReplicas, desiredReplicas - partition)
  if (updateRevision !== currentRevision)
    return waiting(
      `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${escapeLine(updateRevision)}...`,
    )
  return done(
    `statefulset rolling update complete ${currentReplicas} pods at revision ${escapeLine(currentRevision)}...`,
  )
}

function ofPartition(updated: number, desiredReplicas: number): Progress {
  if (updated < desiredReplicas)
    return waiting(
      `Waiting for partitioned roll out to finish: ${updated} out of ${desiredReplicas} new pods have been updated...`,
    )
  return done(`partitioned roll out complete: ${updated} new pods have been updated...`)
}
