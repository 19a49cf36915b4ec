/**
 * Writes backups to files. A backup is written to a temporary file, synced, verified and then renamed, so that a file
 * with the final name is always complete. Existing files are never overwritten. Only the owner can read the file
 * because it contains all Secrets.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '../../base/text/errors.ts'
import { BackupError } from './backup-error.ts'
import { type BackupContents, BackupReader } from './format.ts'

/**
 * Writes a backup and returns a summary of its contents. Throws BackupError if the file exists, cannot be written or
 * fails verification.
 */
export async function writeBackupFile(
  file: string,
  chunks: AsyncIterable<Buffer>,
  onProgress: (bytes: number) => void = () => {},
): Promise<BackupContents> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeAll(temporary, chunks, onProgress)
    const contents = await readContents(temporary)
    await link(temporary, file)
    await syncDirectory(dirname(file))
    return contents
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new BackupError(`${file} already exists: choose another file`)
    if (codeOf(error) === undefined) throw error
    throw new BackupError(`cannot write the backup: ${messageOf(error)}`, { cause: error })
  } finally {
    await rm(temporary, { force: true }).catch(() => {})
  }
}

async function writeAll(
  file: string,
  chunks: AsyncIterable<Buffer>,
  onProgress: (bytes: number) => void,
): Promise<void> {
  await using handle = await open(file, 'wx', 0o600)
  let bytes = 0
  for await (const chunk of chunks) {
    await handle.writeFile(chunk)
    bytes += chunk.length
    onProgress(bytes)
  }
  await handle.sync()
}

/** Reads a whole backup. Throws BackupError if the backup is damaged or truncated. */
export async function readContents(file: string): Promise<BackupContents> {
  const reader = await openBackup(file)
  for await (const _ of reader.pages());
  return reader.contents!
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r')
  await handle.sync()
}

/** Opens a backup file for reading. The name `-` stands for standard input. */
export async function openBackup(file: string): Promise<BackupReader> {
  try {
    return await BackupReader.open(file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 }))
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    throw new BackupError(`cannot read the backup: ${messageOf(error)}`, { cause: error })
  }
}
