/**
 * The self-made CAs in a backup. On etcd they lie in the store; an embedded store has them in files beside it
 * (shared-keys.ts). In a backup they are entries under the keys that they have on etcd, wherever they come from, and
 * are put where the restored store looks for them: without them no client would trust the restored server.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adoptCa, type CertifiedKey } from '../../api/pki/authority.ts'
import { BackupError } from '../../apiserver/backup/backup-error.ts'
import { ignoring } from '../../base/files/files.ts'
import type { Entry } from '../../storage/store/store.ts'
import { authorityKey, proxyAuthorityKey } from '../certificates/shared-keys.ts'

/** Where each lies in a data directory. */
const places: ReadonlyMap<string, string> = new Map([
  [authorityKey, 'pki'],
  [proxyAuthorityKey, 'pki/front-proxy'],
])

/** The entries for the CAs of a data directory, as far as it has any. */
async function authorityEntries(dataDir: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [key, place] of places) {
    const pair = await readPair(join(dataDir, place))
    if (pair !== undefined) entries.push({ key, revision: 1, value: Buffer.from(JSON.stringify(pair)) })
  }
  return entries
}

/** Pages of an embedded store, with its CAs first. */
export async function* withAuthorities(
  pages: AsyncIterable<readonly Entry[]>,
  dataDir: string,
): AsyncGenerator<readonly Entry[]> {
  yield await authorityEntries(dataDir)
  for await (const page of pages) yield page.filter((entry) => !isAuthority(entry))
}

/** Whether an entry is one of these. */
export function isAuthority({ key }: Entry): boolean {
  return places.has(key)
}

/** Puts the CA of an entry into a data directory. Throws BackupError where another one is there. */
export async function adoptAuthority(dataDir: string, { key, value }: Entry): Promise<void> {
  const place = join(dataDir, places.get(key)!)
  const pair = JSON.parse(Buffer.from(value).toString()) as CertifiedKey
  const held = await readPair(place)
  if (held !== undefined && (held.certificate !== pair.certificate || held.key !== pair.key))
    throw new BackupError(`${place} holds another CA than the backup, and nothing is overwritten: move it away first`)
  await adoptCa(place, pair)
}

async function readPair(directory: string): Promise<CertifiedKey | undefined> {
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(ignoring('ENOENT'))
  const [certificate, key] = await Promise.all([read('ca.crt'), read('ca.key')])
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}
