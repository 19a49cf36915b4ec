/**
 * Checks the data directory before lmdb opens it. The directory must be private to its owner and have free space, and
 * the data file must be as long as its metadata specifies. Otherwise, lmdb would crash the process.
 */
import { type Stats, statSync } from 'node:fs'
import { constants, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoring, makePrivateDirectory } from '../../../base/files/files.ts'
import { StoreError, StoreFull } from '../store.ts'
import { readMeta } from './page-file.ts'

/**
 * The files that can be in a data directory: lmdb's files, the lock, the certificates, and the file of an interrupted
 * write test.
 */
const ownFiles = ['claim', 'data.mdb', 'lock.mdb', 'pki', 'trial.mdb']
const neededBytes = 1024 * 1024

/** Returns the size of the data file in bytes, including free pages. */
export function dataFileSize(directory: string): number {
  return statSync(join(directory, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Returns a function that checks whether the path still refers to the same file as when `placeCheck` was called. The
 * returned function throws StoreError if the file was removed, moved or replaced, because data written to the open file
 * would then be missing at the next start.
 */
export function placeCheck(path: string): () => void {
  const { dev, ino } = statSync(path)
  return () => {
    const now = lookAt(path)
    if (now === 'unknown' || (now?.dev === dev && now.ino === ino)) return
    throw new StoreError(`the data file ${path} was ${now === undefined ? 'removed or moved' : 'replaced'}`)
  }
}

/**
 * Returns the status of a file, or undefined if the file does not exist. Returns `unknown` if the path cannot currently
 * be accessed, which does not mean that the file is missing.
 */
function lookAt(path: string): Stats | 'unknown' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return 'unknown'
  }
}

/**
 * Creates the data directory, accessible only by its owner. If the creation fails, throws a StoreError that recommends
 * a remedy.
 */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await makePrivateDirectory(directory, ownFiles)
  } catch (cause) {
    throw new StoreError(
      `cannot use the data directory ${directory}: ${(cause as Error).message}; choose another directory with --data-dir`,
      {
        cause,
      },
    )
  }
}

/**
 * Throws StoreError if the directory belonged to a cluster and its data file is missing. A server creates its
 * certificates after its data file. If there are certificates but no data file, the file was deleted or moved, or the
 * directory was used with etcd. If the server started with a new, empty cluster, all data would appear to users and
 * controllers to have been lost.
 */
export async function assertDataFileNotLost(directory: string): Promise<void> {
  if (dataFileSize(directory) > 0) return
  const certificates = (await readdir(join(directory, 'pki')).catch(ignoring('ENOENT'))) ?? []
  if (certificates.length === 0) return
  throw new StoreError(
    `the data directory ${directory} contains cluster certificates (pki/) but no data file (data.mdb). ` +
      'Put the file back; or restore a backup with "orch restore --from FILE --data-dir DIR"; ' +
      'or, to start a new and empty cluster, move the directory pki away or choose another --data-dir. ' +
      'If the cluster is in etcd, start with --etcd-servers',
  )
}

/**
 * Checks a locked directory. Returns a warning if an existing store has almost no space left. Such a store still
 * supports reads and deletes.
 */
export async function checkDirectory(directory: string): Promise<string | undefined> {
  const exists = await checkFile(join(directory, 'data.mdb'))
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= neededBytes) return exists ? undefined : await tryWriting(directory)
  const scarce = `not enough space in ${directory}: ${bavail * bsize} bytes are free, ${neededBytes} are required`
  if (!exists) throw new StoreFull(scarce)
  await layOutLockFile(join(directory, 'lock.mdb'), scarce)
  return `${scarce}; until then, objects can be read and deleted, but most writes will fail`
}

/**
 * Writes a test file. lmdb crashes the process if its first write to a new file fails, for example because of a quota
 * that the reported free space ignores. The test uses a separate file, because lmdb does not treat a file with content
 * as new.
 */
async function tryWriting(directory: string): Promise<undefined> {
  const path = join(directory, 'trial.mdb')
  try {
    await using file = await open(path, 'w', 0o600)
    await file.write(Buffer.alloc(trialBytes), 0, trialBytes, 0)
    await file.datasync()
  } catch (cause) {
    throw new StoreError(`cannot write to the data directory ${directory}: ${(cause as Error).message}`, { cause })
  } finally {
    await rm(path, { force: true })
  }
}

/** Size of the test file: the size of a new store plus a margin. */
const trialBytes = 128 * 1024

/**
 * Allocates the space of lmdb's lock file. lmdb maps this file into memory and writes to it directly, so the process
 * crashes if the device has no space for a page. If lmdb has used the file before, the space is already allocated.
 */
async function layOutLockFile(path: string, scarce: string): Promise<void> {
  try {
    await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    const { blocks } = await file.stat()
    if (blocks === 0) await file.write(Buffer.alloc(lockFileBytes), 0, lockFileBytes, 0)
  } catch (cause) {
    throw new StoreFull(`${scarce}; cannot create ${path}: ${(cause as Error).message}`, { cause })
  }
}

const lockFileBytes = 8192

/**
 * Rejects a file that does not belong to lmdb. Extends a truncated file to its recorded length, because reading past
 * the end of a mapped file would crash the process. Reading zeros results in an error that can be reported. Returns
 * false if the file is new, that is, absent or empty.
 */
async function checkFile(path: string): Promise<boolean> {
  const { size } = await stat(path).catch(absent)
  if (size === 0) return false
  await using file = await open(path, 'r+')
  const meta = readMeta(file.fd)
  const requiredBytes = meta === undefined ? Number.NaN : (meta.lastPage + 1) * meta.pageSize
  if (!(requiredBytes <= largestFile))
    throw new StoreError(
      `the data file ${path} is damaged or belongs to another program: restore a backup, or choose another --data-dir`,
    )
  if (requiredBytes > size) await file.truncate(requiredBytes)
  return true
}

const largestFile = 2 ** 46

function absent(error: NodeJS.ErrnoException): { size: number } {
  if (error.code === 'ENOENT') return { size: 0 }
  throw new StoreError(
    `cannot read the data file: ${error.message}; start as the owner of the file, or choose another --data-dir`,
    { cause: error },
  )
}
