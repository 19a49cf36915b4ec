/** Starts generations for a store that watches etcd itself instead of through another thread. */
import { SharedRevisions } from '../shared-revisions.ts'
import type { Revision } from '../store.ts'
import type { EtcdLocation, GenerationParts, GenerationSource } from './generation-source.ts'
import { readOffset } from './offset.ts'
import { type ChangeListener, WatchedChanges } from './watched-changes.ts'

export const localGenerations: GenerationSource = {
  begin: (location, reportedRevision) => beginLocalGeneration(location, reportedRevision),
  compacts: true,
  close: () => {},
}

/**
 * Starts a generation. A listener, if given, receives all events. The log tail is then kept short, because only the
 * listener reads the changes.
 */
export async function beginLocalGeneration(
  { connection, prefix }: EtcdLocation,
  reportedRevision: Revision,
  listener?: ChangeListener,
): Promise<GenerationParts> {
  const { space, etcdRevision } = await readOffset(connection, prefix, reportedRevision)
  const revision = space.revision(etcdRevision)
  const limits = listener && { maxChanges: 1, maxBytes: 0 }
  return {
    space,
    sharedRevisions: new SharedRevisions(),
    openChanges: (callbacks) => new WatchedChanges({ ...callbacks, connection, space, revision, listener, limits }),
  }
}
