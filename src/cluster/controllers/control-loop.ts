/**
 * Defines the type of a control loop in the table in `all.ts`, and the context in which the loops are created. `orch
 * up` and `orch controller-manager` run the same loops with different clients and options.
 */

import type { ApiObject } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Availability, Emulation } from '../../api/versions/availability.ts'
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

/**
 * A control loop in the table: its name, service account and constructor, and the Kubernetes versions that include it.
 */
export interface ControlLoop extends Availability {
  /** Name of the loop in `--controllers`. */
  readonly name: string
  /** Whether `*` includes the loop. Defaults to true. */
  readonly onByDefault?: boolean
  /**
   * Whether the loop creates, schedules or tracks pods. Test servers run such loops only on request, because their
   * users expect a Deployment to create nothing.
   */
  readonly cluster?: boolean
  /**
   * Service account of the loop in the system namespace. The role of the account is `system:controller:<account>`
   * unless `roles` names other roles. If undefined, the loop runs as the manager itself.
   */
  readonly account?: string
  /**
   * Source component of the loop's events. Set only if kube-controller-manager uses a name other than the account's.
   */
  readonly eventSource?: string
  readonly roles?: readonly string[]
  /**
   * The flag `--concurrent-<flag>-syncs`, which sets how many objects the loop reconciles in parallel, and its default.
   */
  readonly syncs?: { readonly flag: string; readonly default: number }
  /** Creates the loop, or several loops that share the name and account. Returns the reason if the loop cannot run. */
  readonly make: (context: LoopContext) => Loop | readonly Loop[] | NotRunning
}

/** Reason why a selected loop does not run, for the log. */
export interface NotRunning {
  readonly notRunning: string
  /** Whether the loop is also inactive with the default flags, in which case the reason is not worth logging. */
  readonly isUsual?: boolean
}

/** The clients, informers and options for creating a control loop. */
export interface LoopContext {
  /** Client that authenticates as the service account of the loop. */
  readonly client: Client
  /** Records events about objects, as the service account of the loop. */
  readonly recorder: EventRecorder
  /** Returns an informer for a selection of objects. Loops with the same selection share one informer. */
  readonly informer: <T extends ApiObject>(type: ResourceType<T>, selection?: Selection) => Informer<T>
  readonly vendor: Vendor
  /** Kubernetes version and feature gates of the API server. */
  readonly emulation: Emulation
  readonly clock: Clock
  readonly log: Log
  readonly options: LoopOptions
}

/** Options of the loops: settings from flags, and facilities that only a server in the same process can provide. */
export interface LoopOptions {
  /** Time in milliseconds that a quota must remain unchanged before it is recounted. */
  readonly quotaSyncMs: number
  /** Runs a function while no quota-related write is in progress. Undefined if other processes also handle writes. */
  readonly whileStill?: <T>(namespace: string, run: (isStill: () => boolean) => Promise<T>) => Promise<T | undefined>
  /** Parent directory for the volumes of the built-in provisioner. If undefined, the provisioner does not run. */
  readonly volumeDirectory?: string
  /** Returns the current CA certificates (PEM) that clients use to verify the API server, or undefined if unknown. */
  readonly rootAuthority?: () => string
  /** Signs tokens stored in Secrets. Undefined if this process has no signing key. */
  readonly issueToken?: LegacyTokenOf
  /** Whether every service account gets a token Secret automatically. */
  readonly createTokenSecrets?: boolean
  /** How long a legacy token must be unused before it is marked, in milliseconds. Defaults to one year. */
  readonly unusedTokenMs?: number
  /** Minimum time, in milliseconds, to batch pod changes before updating Endpoints or EndpointSlices. Defaults to 0. */
  readonly endpointBatchMs?: number
  readonly sliceBatchMs?: number
  /** Maximum number of endpoints per EndpointSlice. Defaults to 100. */
  readonly maxEndpointsPerSlice?: number
  /**
   * Minimum time, in milliseconds, to batch Endpoints changes before updating the mirrored EndpointSlices. Defaults to
   * 0.
   */
  readonly mirroringBatchMs?: number
  /** Maximum number of mirrored addresses per subset. Defaults to 1000. */
  readonly maxMirrored?: number
  /** Scheduler configuration. Defaults to that of kube-scheduler. */
  readonly scheduler?: SchedulerSettings
  /** Grace period for silent nodes, and eviction rates for nodes that are not ready. */
  readonly nodeHealth?: NodeHealthOptions
  /** CIDR ranges for the pod CIDRs of nodes. If undefined, nodes are not assigned pod CIDRs. */
  readonly podRanges?: PodRanges
  /** Maximum number of terminated pods to keep. 0 means no limit. */
  readonly maxEndedPods?: number
  readonly autoscaling?: AutoscalingOptions
  /** CA keys and lifetime limit of the built-in signers. If undefined, the signers sign nothing. */
  readonly signing?: {
    readonly authorities: SigningAuthorities
    /** Maximum lifetime of a certificate, in milliseconds. */
    readonly maxLifetimeMs: number
  }
}
