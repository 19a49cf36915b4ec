/** The eras of a store that has its own watch. */
import { SharedRevisions } from '../shared-revisions.ts'
import type { Revision } from '../store.ts'
import type { Era, Eras, Place } from './era.ts'
import { readOffset } from './offset.ts'
import { type FeedListener, WatchedFeed } from './watched-feed.ts'

export const ownEras: Eras = {
  begin: (place, told) => beginOwn(place, told),
  compacts: true,
  close: () => {},
}

/** If there is a listener, it gets all events and the tail is kept short because nothing reads it. */
export async function beginOwn({ connection, prefix }: Place, told: Revision, listener?: FeedListener): Promise<Era> {
  const { space, etcdRevision } = await readOffset(connection, prefix, told)
  const revision = space.revision(etcdRevision)
  const limits = listener && { maxChanges: 1, maxBytes: 0 }
  return {
    space,
    known: new SharedRevisions(),
    openFeed: (around) => new WatchedFeed({ ...around, connection, space, revision, listener, limits }),
  }
}
