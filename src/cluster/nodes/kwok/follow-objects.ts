/** Creates an informer for one of KWOK's kinds. */
import { Informer } from '../../../client/informers/informer.ts'
import type { Feed } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type KwokKind, type KwokObject, type kwokKinds, kwokType } from './kinds.ts'

/** An informer of KWOK objects, and the feed that updates it. */
export interface FollowedObjects {
  readonly informer: Informer<KwokObject>
  readonly feed: Feed
}

/** The informers of all of KWOK's kinds. */
export type FollowedKinds = { readonly [name in keyof typeof kwokKinds]: FollowedObjects }

export interface FollowOptions {
  readonly onError: (error: unknown) => void
  readonly pageLimit?: number
}

/**
 * Returns an informer of all objects of a kind. Its feed counts as synced even after an error, so that nodes can run
 * without these objects.
 */
export function followObjects(client: Client, kind: KwokKind, { onError, pageLimit }: FollowOptions): FollowedObjects {
  const failed = Promise.withResolvers<void>()
  const informer = new Informer(client, kwokType(kind), {
    streamingLists: false,
    ...(pageLimit === undefined ? {} : { pageLimit }),
    onError: (error) => {
      failed.resolve()
      onError(error)
    },
  })
  const synced = Promise.race([informer.synced, failed.promise])
  return { informer, feed: { run: (signal) => informer.run(signal), synced } }
}
