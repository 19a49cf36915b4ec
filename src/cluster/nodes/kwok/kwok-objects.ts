/** Creates the informers and lookups for the KWOK objects that simulated nodes support. */
import type { TimerClock } from '../../../base/time/clock.ts'
import type { Source } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type CommandSettings, execRules } from './exec-objects.ts'
import { type FollowOptions, followObjects } from './follow-objects.ts'
import { type KwokKind, kwokKinds } from './kinds.ts'
import { LogFiles } from './log-files.ts'
import { LogObjects } from './log-objects.ts'
import { MetricObjects } from './metric-objects.ts'
import { PodRules } from './pod-rules.ts'
import { PortServices, type ResolveAddress } from './port-services.ts'
import { StageObjects } from './stage-objects.ts'
import { UsageObjects } from './usage-objects.ts'

export interface KwokObjects {
  readonly stages: StageObjects
  readonly usage: UsageObjects
  readonly logs: LogObjects
  readonly commands: PodRules<CommandSettings>
  readonly ports: PortServices
  readonly metrics: MetricObjects
  /** Sources that only keep the informers up to date and trigger no keys. */
  readonly sources: readonly Source[]
}

export interface KwokOptions extends FollowOptions {
  /** The directory of log files. Undefined if no log files may be read. */
  readonly logDirectory: string | undefined
  readonly clock: TimerClock
  readonly resolveAddress: ResolveAddress
}

/** Creates the informers. Requests of the client wait until the definitions of the kinds have been installed. */
export function followKwokObjects(client: Client, options: KwokOptions): KwokObjects {
  const pair = (own: KwokKind, cluster: KwokKind) =>
    [followObjects(client, own, options), followObjects(client, cluster, options)] as const
  const usages = pair(kwokKinds.resourceUsage, kwokKinds.clusterResourceUsage)
  const logs = pair(kwokKinds.logs, kwokKinds.clusterLogs)
  const attaches = pair(kwokKinds.attach, kwokKinds.clusterAttach)
  const execs = pair(kwokKinds.exec, kwokKinds.clusterExec)
  const forwards = pair(kwokKinds.portForward, kwokKinds.clusterPortForward)
  const metrics = followObjects(client, kwokKinds.metric, options)
  const followed = [...usages, ...logs, ...attaches, ...execs, ...forwards, metrics]
  return {
    stages: new StageObjects(followObjects(client, kwokKinds.stage, options)),
    usage: new UsageObjects(...usages),
    logs: new LogObjects({ logs, attaches }, new LogFiles(options.logDirectory, options.clock)),
    commands: new PodRules(execRules, ...execs),
    metrics: new MetricObjects(metrics),
    ports: new PortServices(...forwards, options.resolveAddress),
    sources: followed.map(({ feed }) => ({ feed, connect: () => () => {} })),
  }
}
