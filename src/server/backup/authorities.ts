/**
 * The self-signed CAs in a backup. With etcd, the CAs are in the store. With an embedded store, they are in files next
 * to the data file (shared-keys.ts). A backup always contains them as entries under their etcd keys, and a restore
 * writes them to the location appropriate for the restored store. Without the CAs, no client would trust the restored
 * server.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adoptCa, type CertifiedKey } from '../../api/pki/authority.ts'
import { BackupError } from '../../apiserver/backup/backup-error.ts'
import { ignoring } from '../../base/files/files.ts'
import type { Entry } from '../../storage/store/store.ts'
import { authorityKey, proxyAuthorityKey } from '../certificates/shared-keys.ts'

/** Subdirectories of the data directory that contain CAs, by store key. */
const places: ReadonlyMap<string, string> = new Map([
  [authorityKey, 'pki'],
  [proxyAuthorityKey, 'pki/front-proxy'],
])

/** Reads the CAs in a data directory as backup entries. */
async function authorityEntries(dataDir: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [key, place] of places) {
    const pair = await readPair(join(dataDir, place))
    if (pair !== undefined) entries.push({ key, revision: 1, value: Buffer.from(JSON.stringify(pair)) })
  }
  return entries
}

/** Returns the pages of an embedded store, preceded by its CAs. */
export async function* withAuthorities(
  pages: AsyncIterable<readonly Entry[]>,
  dataDir: string,
): AsyncGenerator<readonly Entry[]> {
  yield await authorityEntries(dataDir)
  for await (const page of pages) yield page.filter((entry) => !isAuthority(entry))
}

/** Whether a backup entry contains a CA. */
export function isAuthority({ key }: Entry): boolean {
  return places.has(key)
}

/** Restores a CA from a backup entry to a data directory. Throws BackupError if a different CA exists there. */
export async function adoptAuthority(dataDir: string, { key, value }: Entry): Promise<void> {
  const place = join(dataDir, places.get(key)!)
  const pair = JSON.parse(Buffer.from(value).toString()) as CertifiedKey
  const storedPair = await readPair(place)
  if (storedPair !== undefined && (storedPair.certificate !== pair.certificate || storedPair.key !== pair.key))
    throw new BackupError(
      `${place} contains a CA that differs from the CA in the backup: move the existing CA to another directory first`,
    )
  await adoptCa(place, pair)
}

async function readPair(directory: string): Promise<CertifiedKey | undefined> {
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(ignoring('ENOENT'))
  const [certificate, key] = await Promise.all([read('ca.crt'), read('ca.key')])
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}
