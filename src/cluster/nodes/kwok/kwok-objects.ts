/** The objects of KWOK's kinds that simulated nodes follow. */
import type { Source } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type FollowOptions, followObjects } from './follow-objects.ts'
import { type KwokKind, kwokKinds } from './kinds.ts'
import { StageObjects } from './stage-objects.ts'
import { UsageObjects } from './usage-objects.ts'

export interface KwokObjects {
  readonly stages: StageObjects
  readonly usage: UsageObjects
  /** Sources without keys that keep the objects up to date. */
  readonly sources: readonly Source[]
}

/** Creates the informers. Requests of the client wait until the definitions of the kinds have been installed. */
export function followKwokObjects(client: Client, options: FollowOptions): KwokObjects {
  const follow = (kind: KwokKind) => followObjects(client, kind, options)
  const usages = [follow(kwokKinds.resourceUsage), follow(kwokKinds.clusterResourceUsage)] as const
  return {
    stages: new StageObjects(follow(kwokKinds.stage)),
    usage: new UsageObjects(...usages),
    sources: usages.map(({ feed }) => ({ feed, connect: () => () => {} })),
  }
}
