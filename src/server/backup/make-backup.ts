/** Streams a backup of an open store at one revision while the store is in use. */

import { version } from '../../api/model/version.ts'
import { BackupError } from '../../apiserver/backup/backup-error.ts'
import { type BackupContents, backupFormat, writeBackup } from '../../apiserver/backup/format.ts'
import { snapshotOf } from '../../apiserver/backup/snapshot.ts'
import type { Store } from '../../storage/store/store.ts'
import { emulatedVersionOf } from '../store/emulated-version.ts'
import { profileKey } from '../store/profile.ts'
import { withAuthorities } from './authorities.ts'

export interface BackupSource {
  readonly store: Store
  /** Data directory of an embedded store. Its CAs are included in the backup. */
  readonly dataDir: string | undefined
}

/** Makes a backup. Yields its chunks and returns a summary of its contents. */
export async function* makeBackup({ store, dataDir }: BackupSource): AsyncGenerator<Buffer, BackupContents> {
  const profile = await store.get(profileKey)
  if (profile === undefined) throw new BackupError('the store is empty: there is nothing to back up')
  const { revision, pages } = await snapshotOf(store)
  const header = {
    format: backupFormat,
    profile: Buffer.from(profile.value).toString(),
    revision,
    created: new Date().toISOString(),
    program: version,
    kubernetesVersion: await emulatedVersionOf(store),
  }
  return yield* writeBackup(header, dataDir === undefined ? pages() : withAuthorities(pages(), dataDir))
}
