/** The objects of KWOK's kinds that simulated nodes follow. */
import type { Client } from '../../../client/requests/client.ts'
import { type FollowOptions, followObjects } from './follow-objects.ts'
import { kwokKinds } from './kinds.ts'
import { StageObjects } from './stage-objects.ts'

export interface KwokObjects {
  readonly stages: StageObjects
}

/** Creates the informers. Requests of the client wait until the definitions of the kinds have been installed. */
export function followKwokObjects(client: Client, options: FollowOptions): KwokObjects {
  return { stages: new StageObjects(followObjects(client, kwokKinds.stage, options)) }
}
