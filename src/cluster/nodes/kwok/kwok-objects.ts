/** Creates the informers and lookups for the KWOK objects that simulated nodes support. */
import type { Source } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type FollowOptions, followObjects } from './follow-objects.ts'
import { type KwokKind, kwokKinds } from './kinds.ts'
import { LogObjects } from './log-objects.ts'
import { StageObjects } from './stage-objects.ts'
import { UsageObjects } from './usage-objects.ts'

export interface KwokObjects {
  readonly stages: StageObjects
  readonly usage: UsageObjects
  readonly logs: LogObjects
  /** Sources that only keep the informers up to date and trigger no keys. */
  readonly sources: readonly Source[]
}

export interface KwokOptions extends FollowOptions {
  /** The directory of log files. Undefined if no log files may be read. */
  readonly logDirectory: string | undefined
}

/** Creates the informers. Requests of the client wait until the definitions of the kinds have been installed. */
export function followKwokObjects(client: Client, options: KwokOptions): KwokObjects {
  const follow = (kind: KwokKind) => followObjects(client, kind, options)
  const usages = [follow(kwokKinds.resourceUsage), follow(kwokKinds.clusterResourceUsage)] as const
  const logs = [follow(kwokKinds.logs), follow(kwokKinds.clusterLogs)] as const
  return {
    stages: new StageObjects(follow(kwokKinds.stage)),
    usage: new UsageObjects(...usages),
    logs: new LogObjects(...logs, options.logDirectory),
    sources: [...usages, ...logs].map(({ feed }) => ({ feed, connect: () => () => {} })),
  }
}
