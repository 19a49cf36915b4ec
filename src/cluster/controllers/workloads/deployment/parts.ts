/** The context shared by the modules of the deployment loop, and the writes of one rollout. */

import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { timestamp } from '../../../../api/model/object.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import type { Clock } from '../../../../base/time/clock.ts'
import type { EventRecorder } from '../../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../../client/informers/informer.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../../client/requests/client.ts'
import { findCondition } from '../conditions.ts'
import { replicasNeedUpdate, withReplicasNoted } from './annotations.ts'
import { maxSurge } from './limits.ts'

/** The clients and informers that the deployment loop uses. */
export interface DeploymentParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly deployments: Informer<Deployment>
  readonly replicaSets: Informer<ReplicaSet>
  readonly pods: Informer<Pod>
}

export type DeploymentStatus = NonNullable<Deployment['status']>
export type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number]

const noDeadline = 2 ** 31 - 1

/** Whether the Deployment has a finite progress deadline. */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== noDeadline
}

/** Returns the Progressing condition of a Deployment, if it has one. */
export function progressing({ status }: Deployment): DeploymentCondition | undefined {
  return findCondition(status?.conditions, 'Progressing')
}

/** A reconcile of one Deployment. Every write replaces `deployment` with the object in the server's response. */
export class Rollout {
  deployment: Deployment
  readonly parts: DeploymentParts
  readonly signal: AbortSignal

  constructor(parts: DeploymentParts, deployment: Deployment, signal: AbortSignal) {
    this.parts = parts
    this.deployment = deployment
    this.signal = signal
  }

  get name(): string {
    return this.deployment.metadata.name ?? ''
  }

  get replicas(): number {
    return this.deployment.spec?.replicas ?? 1
  }

  /** Writes the status, and the annotations if they have changed. */
  async writeStatus(change: Partial<Pick<Deployment, 'metadata' | 'status'>>): Promise<void> {
    const next = { ...this.deployment, ...change }
    this.deployment = await this.parts.client.update(kinds.Deployment, next, {
      subresource: 'status',
      signal: this.signal,
    })
  }

  /** Scales a ReplicaSet, and records the Deployment's replica counts in its annotations. */
  async scale(set: ReplicaSet, size: number): Promise<ReplicaSet> {
    const { replicas = 1 } = set.spec ?? {}
    const noted = { desired: this.replicas, max: this.replicas + maxSurge(this.deployment) }
    if (replicas === size && !replicasNeedUpdate(this.parts.vendor, set, noted)) return set
    const next = withReplicasNoted(this.parts.vendor, { ...set, spec: { ...set.spec, replicas: size } }, noted)
    const updatedSet = await this.parts.client.update(kinds.ReplicaSet, next, { signal: this.signal })
    const direction = replicas < size ? 'up' : 'down'
    if (replicas !== size)
      this.event('Normal', 'ScalingReplicaSet', `Scaled ${direction} replica set ${set.metadata.name} to ${size}`)
    return updatedSet
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.parts.recorder.record(this.deployment, { type, reason, message })
  }

  /** Returns a condition whose timestamps are the current time. */
  condition(
    type: string,
    status: string,
    { reason, message }: Pick<Required<DeploymentCondition>, 'reason' | 'message'>,
  ) {
    const now = timestamp(this.parts.clock.now())
    return { type, status, reason, message, lastUpdateTime: now, lastTransitionTime: now }
  }
}
