/**
 * The data directory before lmdb sees it: made for its owner only, with room on the device, and with a file at least as
 * long as it says it is. lmdb answers the lack of any of these with a dead process.
 */
import { type Stats, statSync } from 'node:fs'
import { constants, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoring, makePrivateDirectory } from '../../../base/files/files.ts'
import { StoreError, StoreFull } from '../store.ts'
import { readMeta } from './page-file.ts'

/** What a data directory holds: lmdb's files, the claim, the certificates beside them, and a trial that was interrupted. */
const ownFiles = ['claim', 'data.mdb', 'lock.mdb', 'pki', 'trial.mdb']
const neededBytes = 1024 * 1024

/** How large the data file is, in bytes: with the pages in it that are free to be used again. */
export function dataFileSize(directory: string): number {
  return statSync(join(directory, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Returns a check that the path still leads to the file that it leads to now. The check throws StoreError where the file
 * was removed, moved or replaced: what is written to it from then on is not found at the next start.
 */
export function placeCheck(path: string): () => void {
  const { dev, ino } = statSync(path)
  return () => {
    const now = lookAt(path)
    if (now === 'unknown' || (now?.dev === dev && now.ino === ino)) return
    throw new StoreError(`the data file ${path} was ${now === undefined ? 'removed or moved' : 'replaced'}`)
  }
}

/** Undefined: there is no such file. Unknown: the path cannot be followed now, which says nothing of the file. */
function lookAt(path: string): Stats | 'unknown' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return 'unknown'
  }
}

/** Makes the data directory, for its owner only. Throws StoreError with what to do. */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await makePrivateDirectory(directory, ownFiles)
  } catch (cause) {
    throw new StoreError(
      `the data directory ${directory} cannot be used: ${(cause as Error).message}; choose another with --data-dir`,
      {
        cause,
      },
    )
  }
}

/**
 * Throws StoreError where a cluster was in this directory and its data file is gone. A server makes its certificates after
 * its data file, so certificates alone mean that the file was deleted or moved, or that the directory was used with etcd. An
 * empty cluster in its place would look like one that has lost everything, to users and to controllers.
 */
export async function assertDataFileNotLost(directory: string): Promise<void> {
  if (dataFileSize(directory) > 0) return
  const certificates = (await readdir(join(directory, 'pki')).catch(ignoring('ENOENT'))) ?? []
  if (certificates.length === 0) return
  throw new StoreError(
    `the data directory ${directory} has the certificates of a cluster (pki/), but no data file (data.mdb). ` +
      'Put the file back; or restore a backup with "orch restore --from FILE --data-dir DIR"; ' +
      'or, to start a new and empty cluster, move the directory pki away or choose another --data-dir. ' +
      'If the cluster is in etcd, start with --etcd-servers',
  )
}

/**
 * For the one who has claimed the directory. Warns where there is hardly any room left for a store that
 * exists: it can be read, and deleted from.
 */
export async function checkDirectory(directory: string): Promise<string | undefined> {
  const exists = await checkFile(join(directory, 'data.mdb'))
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= neededBytes) return exists ? undefined : await tryWriting(directory)
  const scarce = `no room in ${directory}: ${bavail * bsize} bytes are free, ${neededBytes} are needed`
  if (!exists) throw new StoreFull(scarce)
  await layOutLockFile(join(directory, 'lock.mdb'), scarce)
  return `${scarce}; until there are, objects can be read and deleted, but hardly be written`
}

/**
 * lmdb ends the process by a signal where its first write to a new file fails, as one over a quota does, of which the free
 * space says nothing. Not the data file itself: one that is not empty is no longer new.
 */
async function tryWriting(directory: string): Promise<undefined> {
  const path = join(directory, 'trial.mdb')
  try {
    await using file = await open(path, 'w', 0o600)
    await file.write(Buffer.alloc(trialBytes), 0, trialBytes, 0)
    await file.datasync()
  } catch (cause) {
    throw new StoreError(`the data directory ${directory} cannot be written: ${(cause as Error).message}`, { cause })
  } finally {
    await rm(path, { force: true })
  }
}

/** What a new store takes, and a little more. */
const trialBytes = 128 * 1024

/**
 * lmdb maps this file and writes to it without asking: a page that has no room on the device ends the process. One
 * that lmdb has used before has its room.
 */
async function layOutLockFile(path: string, scarce: string): Promise<void> {
  try {
    await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    const { blocks } = await file.stat()
    if (blocks === 0) await file.write(Buffer.alloc(lockFileBytes), 0, lockFileBytes, 0)
  } catch (cause) {
    throw new StoreFull(`${scarce}; not even for ${path}: ${(cause as Error).message}`, { cause })
  }
}

const lockFileBytes = 8192

/**
 * Refuses a file that is not lmdb's, and makes one that was cut off as long as it says it is: reading past the end of a
 * mapped file ends the process, reading zeros is an error that can be reported. A file that is absent or empty is new:
 * then it gives false.
 */
async function checkFile(path: string): Promise<boolean> {
  const { size } = await stat(path).catch(absent)
  if (size === 0) return false
  await using file = await open(path, 'r+')
  const meta = readMeta(file.fd)
  const wanted = meta === undefined ? Number.NaN : (meta.lastPage + 1) * meta.pageSize
  if (!(wanted <= largestFile))
    throw new StoreError(
      `the data file ${path} is damaged, or not one of this program: restore a backup of it, or choose another --data-dir`,
    )
  if (wanted > size) await file.truncate(wanted)
  return true
}

const largestFile = 2 ** 46

function absent(error: NodeJS.ErrnoException): { size: number } {
  if (error.code === 'ENOENT') return { size: 0 }
  throw new StoreError(
    `the data file cannot be read: ${error.message}; start as its owner, or choose another --data-dir`,
    { cause: error },
  )
}
