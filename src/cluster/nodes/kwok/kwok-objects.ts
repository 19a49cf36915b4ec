/** Creates the informers and lookups for the KWOK objects that simulated nodes support. */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { TimerClock } from '../../../base/time/clock.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import type { Source } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type CommandSettings, execRules } from './exec-objects.ts'
import { type FollowedKinds, type FollowOptions, followObjects } from './follow-objects.ts'
import { kwokKinds } from './kinds.ts'
import { LogFiles } from './log-files.ts'
import { LogObjects } from './log-objects.ts'
import { MetricObjects } from './metric-objects.ts'
import { PodRules } from './pod-rules.ts'
import { PortServices, type ResolveAddress } from './port-services.ts'
import { reportLoop } from './report-objects.ts'
import { StageObjects } from './stage-objects.ts'
import { StagedKinds } from './staged-kinds.ts'
import { UsageObjects } from './usage-objects.ts'

/** Lookups for the KWOK objects of the cluster, and the loops that act on these objects. */
export interface KwokObjects {
  readonly stages: StageObjects
  readonly usage: UsageObjects
  readonly logs: LogObjects
  readonly commands: PodRules<CommandSettings>
  readonly ports: PortServices
  readonly metrics: MetricObjects
  /** Sources that only keep the informers up to date, without triggering a reconcile. */
  readonly sources: readonly Source[]
  /**
   * The loops that set the condition Supported of the objects and that apply stages to kinds other than Pod and Node.
   */
  readonly loops: readonly Loop[]
}

export interface KwokOptions extends FollowOptions {
  /** The directory of log files. Undefined if no log files may be read. */
  readonly logDirectory: string | undefined
  readonly clock: TimerClock
  /** Client with permission to write the status of KWOK objects. */
  readonly statusClient: Client
  readonly resolveAddress: ResolveAddress
  readonly vendor: Vendor
  /** Speed of the stages, as a multiple of real time. */
  readonly speed: number
  /** Returns a client for the agent of a node, or for the actor of a stage. */
  readonly clientOf: (name: string) => Client
  /** Name of a node whose agent records Events about invalid stages. */
  readonly node: string
}

/** Creates one informer per kind. The client's requests wait until the definitions of the kinds have been installed. */
export function followKwokObjects(client: Client, options: KwokOptions): KwokObjects {
  const { logDirectory, clock, statusClient, resolveAddress, vendor, clientOf } = options
  const kinds = Object.entries(kwokKinds).map(([name, kind]) => [name, followObjects(client, kind, options)] as const)
  const followed = Object.fromEntries(kinds) as FollowedKinds
  const { stage, resourceUsage, logs, attach, exec, portForward, metric } = followed
  const { clusterResourceUsage, clusterLogs, clusterAttach, clusterExec, clusterPortForward } = followed
  const files = new LogFiles(logDirectory, clock)
  const stages = new StageObjects(stage, vendor)
  const faultClient = clientOf(options.node)
  const stagedKinds = new StagedKinds({ ...options, stages, faultClient, component: vendor.nodeAgent })
  const reportParts = { client: statusClient, clock, vendor, stagedKinds, readsLogs: logDirectory !== undefined }
  return {
    stages,
    usage: new UsageObjects(resourceUsage, clusterResourceUsage),
    logs: new LogObjects({ logs: [logs, clusterLogs], attaches: [attach, clusterAttach] }, files),
    commands: new PodRules(execRules, exec, clusterExec),
    metrics: new MetricObjects(metric),
    ports: new PortServices(portForward, clusterPortForward, resolveAddress),
    sources: Object.values(followed).map(({ feed }) => ({ feed, connect: () => () => {} })),
    loops: [reportLoop(followed, reportParts), stagedKinds.loop],
  }
}
