/**
 * What an entry of the table of control loops (`all.ts`) says, and what a loop gets to work with. The same entries run
 * inside `orch up` and in `orch controller-manager`: what differs is where the clients and the options come from.
 */

import type { ApiObject } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { EventRecorder } from '../../client/informers/event-recorder.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import type { Client } from '../../client/requests/client.ts'
import type { ResourceType, Selection } from '../../client/requests/resource-type.ts'
import type { SchedulerSettings } from '../scheduler/scheduler.ts'
import type { AutoscalingOptions } from './autoscaling/horizontal-pod-autoscaling.ts'
import type { SigningAuthorities } from './csr-signing.ts'
import type { PodRanges } from './nodes/node-ipam.ts'
import type { NodeHealthOptions } from './nodes/node-lifecycle.ts'
import type { LegacyTokenOf } from './service-account-secret.ts'

/** An entry of the table: a loop by its name, its account, and how it is made. */
export interface ControlLoop {
  /** As `--controllers` names it. */
  readonly name: string
  /** Whether `*` includes it; true unless said otherwise. */
  readonly onByDefault?: boolean
  /**
   * Whether it belongs to a whole cluster: it makes, places or follows pods. Test servers leave such loops out unless
   * they are asked for, as their users expect that a Deployment makes nothing.
   */
  readonly cluster?: boolean
  /**
   * Its service account in the system namespace, whose role is `system:controller:<account>` unless `roles` names others.
   * Undefined: it works as the manager itself.
   */
  readonly account?: string
  /** The component that its events name as their source, where kube-controller-manager uses another name. */
  readonly eventSource?: string
  readonly roles?: readonly string[]
  /** The flag that says how many objects it works on at once, as in `--concurrent-<flag>-syncs`, and its default. */
  readonly syncs?: { readonly flag: string; readonly default: number }
  /** Returns the loop, or why it cannot run. */
  readonly make: (context: LoopContext) => Loop | NotRunning
}

/** Why a loop that was asked for does not run, for the log. */
export interface NotRunning {
  readonly notRunning: string
  /** Whether that is as the flags have it by default: then nobody is told. */
  readonly isUsual?: boolean
}

/** What a loop gets to work with. */
export interface LoopContext {
  /** As the loop's own account. */
  readonly client: Client
  /** Events about objects, as the loop's own account. */
  readonly recorder: EventRecorder
  /** Follows a selection of objects. All loops that ask for the same one share it. */
  readonly informer: <T extends ApiObject>(type: ResourceType<T>, selection?: Selection) => Informer<T>
  readonly vendor: Vendor
  readonly clock: Clock
  readonly log: Log
  readonly options: LoopOptions
}

/** What flags decide, and what only the server in the same process can offer. */
export interface LoopOptions {
  /** How long a quota is left alone before it is counted anew. */
  readonly quotaSyncMs: number
  /** Does this while no write is under way that quotas account for; undefined where nobody can know that. */
  readonly whileStill?: <T>(namespace: string, run: (isStill: () => boolean) => Promise<T>) => Promise<T | undefined>
  /** Below which the volumes of the built-in provisioner are; undefined: it makes none. */
  readonly volumeDirectory?: string
  /** By what clients verify the API server, as it is now: certificates in PEM form; undefined: not known. */
  readonly rootAuthority?: () => string
  /** Signs tokens that are kept in Secrets; undefined: nothing here may. */
  readonly issueToken?: LegacyTokenOf
  /** Whether every service account gets a token Secret that nobody asked for. */
  readonly createTokenSecrets?: boolean
  /** How long changes of pods are gathered at least before Endpoints, and EndpointSlices, follow; 0 by default. */
  readonly endpointBatchMs?: number
  readonly sliceBatchMs?: number
  /** 100 by default. */
  readonly maxEndpointsPerSlice?: number
  /** How long changes of Endpoints are gathered at least before their copies in EndpointSlices follow; 0 by default. */
  readonly mirroringBatchMs?: number
  /** How many addresses of a subset are copied; 1000 by default. */
  readonly maxMirrored?: number
  /** How Pods are placed; as kube-scheduler does by default if left out. */
  readonly scheduler?: SchedulerSettings
  /** How long nodes are waited for, and how fast those that are not ready are emptied. */
  readonly nodeHealth?: NodeHealthOptions
  /** The ranges that nodes get theirs from; undefined: they get none. */
  readonly podRanges?: PodRanges
  /** How many pods that have ended may stay; 0: all of them. */
  readonly maxEndedPods?: number
  readonly autoscaling?: AutoscalingOptions
  /** What the built-in signers sign with; undefined: they do not sign. */
  readonly signing?: {
    readonly authorities: SigningAuthorities
    /** The longest life of a certificate. */
    readonly longestMs: number
  }
}
