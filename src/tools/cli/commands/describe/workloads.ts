/** Descriptions of workloads: desired and current replicas, and the pod template. */

import { type Json, sameJson } from '../../../../api/json/json.ts'
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { CronJob } from '../../../../api/kinds/batch/cron-job.ts'
import type { Job } from '../../../../api/kinds/batch/job.ts'
import type { ReplicationController } from '../../../../api/kinds/core/replication-controller.ts'
import type { ApiObject, ObjectBase } from '../../../../api/model/object.ts'
import { humanDuration } from '../../../../base/time/human-duration.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import type { Session } from '../../connection/session.ts'
import { revisionNumber } from '../rollout/revisions.ts'
import { conditionsText, head, lines, pairsText, selectorText, timeText } from './parts.ts'
import { podTemplateText } from './pod.ts'

/** Lists the objects of a type whose controller is this object. */
async function ownedBy<T extends ObjectBase>(
  { client, context }: Session,
  { metadata }: ApiObject,
  type: ResourceType<T>,
): Promise<T[]> {
  const { items } = await client.list(type, { namespace: metadata.namespace ?? '', signal: context.signal })
  return items.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ uid, controller }) => controller && uid === metadata.uid),
  )
}

/** Returns the number of pods in each phase, such as `2 Running / 0 Waiting / 1 Succeeded / 0 Failed`. */
async function podCounts(session: Session, owner: ApiObject): Promise<string> {
  const ownedPods = await ownedBy(session, owner, kinds.Pod)
  const count = (phase: string) => ownedPods.filter(({ status }) => (status?.phase ?? 'Pending') === phase).length
  return `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`
}

export async function describeDeployment(deployment: Deployment, session: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = deployment
  const sets = (await ownedBy(session, deployment, kinds.ReplicaSet)).sort((a, b) =>
    revisionOf(a) < revisionOf(b) ? -1 : 1,
  )
  const newest = sets.find((set) => isMadeFor(set, deployment))
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {}
  return [
    head(deployment, lines({ CreationTimestamp: timeText(metadata.creationTimestamp) })),
    lines({
      Selector: selectorText(spec.selector),
      Replicas: `${spec.replicas ?? 0} desired | ${status.updatedReplicas ?? 0} updated | ${status.replicas ?? 0} total | ${status.availableReplicas ?? 0} available | ${status.unavailableReplicas ?? 0} unavailable`,
      StrategyType: spec.strategy?.type ?? '',
      MinReadySeconds: spec.minReadySeconds ?? 0,
      RollingUpdateStrategy:
        maxSurge === undefined ? undefined : `${maxUnavailable} max unavailable, ${maxSurge} max surge`,
    }),
    podTemplateText(spec.template),
    conditionsText(status.conditions),
    lines({
      OldReplicaSets: setsText(sets.filter((set) => set !== newest && set.spec?.replicas !== 0)),
      NewReplicaSet: setsText(newest === undefined ? [] : [newest]),
    }),
  ].join('')
}

function setsText(sets: readonly ReplicaSet[]): string {
  const texts = sets.map(
    ({ metadata, status, spec }) =>
      `${metadata.name} (${status?.replicas ?? 0}/${spec?.replicas ?? 0} replicas created)`,
  )
  return texts.join(', ') || '<none>'
}

/**
 * Whether the ReplicaSet has the current pod template. Compares the templates, because immediately after a change the
 * matching ReplicaSet does not yet have the highest revision.
 */
function isMadeFor({ spec }: ReplicaSet, deployment: Deployment): boolean {
  const { 'pod-template-hash': _, ...labels } = spec?.template?.metadata?.labels ?? {}
  const template = { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } }
  return sameJson(template as Json, (deployment.spec?.template ?? null) as Json)
}

/** Returns the deployment revision of a ReplicaSet, from its annotation. */
function revisionOf({ metadata }: ReplicaSet): bigint {
  const [, revision] =
    Object.entries(metadata.annotations ?? {}).find(([key]) => /^deployment\..*\/revision$/.test(key)) ?? []
  return revisionNumber(revision)
}

export async function describeReplicaSet(set: ReplicaSet, session: Session): Promise<string> {
  return await describeReplicas(set, session, { ...set, selector: selectorText(set.spec?.selector) })
}

export async function describeReplicationController(set: ReplicationController, session: Session): Promise<string> {
  return await describeReplicas(set, session, { ...set, selector: pairsText(set.spec?.selector) })
}

async function describeReplicas(
  object: ApiObject,
  session: Session,
  { selector, spec = {}, status = {} }: { selector: string } & Pick<ReplicaSet, 'spec' | 'status'>,
): Promise<string> {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller)
  return [
    head(object, lines({ Selector: selector })),
    lines({
      'Controlled By': owner && `${owner.kind}/${owner.name}`,
      Replicas: `${status.replicas ?? 0} current / ${spec.replicas ?? 0} desired`,
      'Pods Status': await podCounts(session, object),
    }),
    podTemplateText(spec.template),
    conditionsText(status.conditions),
  ].join('')
}

export async function describeStatefulSet(set: StatefulSet, session: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = set
  const { type, rollingUpdate } = spec.updateStrategy ?? {}
  const first = { CreationTimestamp: timeText(metadata.creationTimestamp), Selector: selectorText(spec.selector) }
  return [
    head(set, lines(first)),
    lines({
      Replicas: `${spec.replicas ?? 0} desired | ${status.replicas ?? 0} total`,
      'Update Strategy': type ?? '',
      '  Partition': rollingUpdate?.partition,
      'Pods Status': await podCounts(session, set),
    }),
    podTemplateText(spec.template),
    claimTemplatesText(spec.volumeClaimTemplates),
  ].join('')
}

function claimTemplatesText(claims: NonNullable<StatefulSet['spec']>['volumeClaimTemplates']): string {
  if (claims === undefined || claims.length === 0) return 'Volume Claims:\t<none>\n'
  const texts = claims.map(({ metadata, spec = {} }) =>
    lines(
      {
        Name: metadata?.name ?? '',
        StorageClass: spec.storageClassName ?? '',
        Labels: pairsText(metadata?.labels),
        Annotations: pairsText(metadata?.annotations),
        Capacity: spec.resources?.requests?.storage ?? '<default>',
        'Access Modes': `[${(spec.accessModes ?? []).join(' ')}]`,
      },
      '  ',
    ),
  )
  return `Volume Claims:\n${texts.join('')}`
}

export async function describeDaemonSet(set: DaemonSet, session: Session): Promise<string> {
  const { spec = {}, status = {} } = set
  const first = { Selector: selectorText(spec.selector), 'Node-Selector': pairsText(spec.template?.spec?.nodeSelector) }
  return [
    head(set, lines(first)),
    `Desired Number of Nodes Scheduled: ${status.desiredNumberScheduled ?? 0}\n`,
    `Current Number of Nodes Scheduled: ${status.currentNumberScheduled ?? 0}\n`,
    `Number of Nodes Scheduled with Up-to-date Pods: ${status.updatedNumberScheduled ?? 0}\n`,
    `Number of Nodes Scheduled with Available Pods: ${status.numberAvailable ?? 0}\n`,
    `Number of Nodes Misscheduled: ${status.numberMisscheduled ?? 0}\n`,
    lines({ 'Pods Status': await podCounts(session, set) }),
    podTemplateText(spec.template),
    conditionsText(status.conditions),
  ].join('')
}

export function describeJob(job: Job): string {
  const { metadata, spec = {}, status = {} } = job
  const { active = 0, succeeded = 0, failed = 0 } = status
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return [
    head(job, lines({ Selector: selectorText(spec.selector) })),
    lines({
      'Controlled By': owner && `${owner.kind}/${owner.name}`,
      Parallelism: spec.parallelism,
      Completions: spec.completions ?? '<unset>',
      'Completion Mode': spec.completionMode,
      Suspend: spec.suspend,
      'Backoff Limit': spec.backoffLimit,
      'TTL Seconds After Finished': spec.ttlSecondsAfterFinished,
      'Start Time': status.startTime && timeText(status.startTime),
      'Completed At': status.completionTime && timeText(status.completionTime),
      Duration: durationOf(status),
      'Active Deadline Seconds':
        spec.activeDeadlineSeconds === undefined ? undefined : `${spec.activeDeadlineSeconds}s`,
      'Pods Statuses': `${active} Active / ${succeeded} Succeeded / ${failed} Failed`,
      'Completed Indexes': spec.completionMode === 'Indexed' ? status.completedIndexes || '<none>' : undefined,
    }),
    podTemplateText(spec.template),
    conditionsText(status.conditions),
  ].join('')
}

/** Returns the duration of the job, or undefined if the job has not completed. */
function durationOf({ startTime, completionTime }: NonNullable<Job['status']>): string | undefined {
  if (startTime === undefined || completionTime === undefined) return undefined
  return humanDuration(Date.parse(completionTime) - Date.parse(startTime))
}

export function describeCronJob(job: CronJob): string {
  const { spec = {}, status = {} } = job
  return [
    head(job),
    lines({
      Schedule: spec.schedule ?? '',
      'Concurrency Policy': spec.concurrencyPolicy ?? '',
      Suspend: spec.suspend ? 'True' : 'False',
      'Successful Job History Limit': spec.successfulJobsHistoryLimit ?? '<unset>',
      'Failed Job History Limit': spec.failedJobsHistoryLimit ?? '<unset>',
      'Starting Deadline Seconds':
        spec.startingDeadlineSeconds === undefined ? '<unset>' : `${spec.startingDeadlineSeconds}s`,
      Selector:
        spec.jobTemplate?.spec?.selector === undefined ? '<unset>' : selectorText(spec.jobTemplate.spec.selector),
      Parallelism: spec.jobTemplate?.spec?.parallelism ?? '<unset>',
      Completions: spec.jobTemplate?.spec?.completions ?? '<unset>',
    }),
    podTemplateText(spec.jobTemplate?.spec?.template),
    lines({
      'Last Schedule Time': timeText(status.lastScheduleTime),
      'Active Jobs': (status.active ?? []).map(({ name }) => name).join(', ') || '<none>',
    }),
  ].join('')
}
