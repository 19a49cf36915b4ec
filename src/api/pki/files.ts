/**
 * Reads and writes PEM files. Files are read completely, up to a size limit, and written atomically
 * (`base/files/files.ts`). Key files have mode 0600 in a directory with mode 0700. Every error is a `PkiFileError` that
 * names the file. Damaged content is a `DamagedFile` error. Callers add instructions to the message, because only they
 * know the purpose of the file.
 */

import { type KeyObject, X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import * as files from '../../base/files/files.ts'
import { messageOf } from '../../base/text/errors.ts'
import { keyFromPem } from './keys.ts'

const maxFileBytes = 256 * 1024
const modes = { certificate: 0o644, key: 0o600 } as const

/** Thrown if a key or certificate file cannot be used. The message names the file. */
export class PkiFileError extends Error {
  override readonly name = 'PkiFileError'
  readonly file: string

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`${file}: ${problem}`, options)
    this.file = file
  }
}

/** An error for a file whose content is invalid, either alone or together with the other file of its pair. */
export class DamagedFile extends PkiFileError {
  readonly problem: string

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(file, problem, options)
    this.problem = problem
  }
}

/** Returns the only certificate in the file, or undefined if the file does not exist. */
export async function readCertificateFile(file: string): Promise<X509Certificate | undefined> {
  const contents = await readBounded(file)
  return contents && parsed(file, 'certificate', () => new X509Certificate(oneBlock(contents.text)))
}

/**
 * Returns the private key in the file, or undefined if the file does not exist. Rejects a key that other users can
 * read.
 */
export async function readKeyFile(file: string): Promise<KeyObject | undefined> {
  const contents = await readBounded(file)
  if (contents === undefined) return undefined
  if (process.platform !== 'win32' && (contents.mode & 0o007) !== 0) {
    throw new PkiFileError(file, `everyone on this machine can use this private key: run chmod 600 on it`)
  }
  return parsed(file, 'private key', () => keyFromPem(oneBlock(contents.text)))
}

/**
 * Creates a file. If several processes create it at the same time, exactly one succeeds. The file is always complete.
 */
export async function createFile(file: string, text: string, kind: 'certificate' | 'key'): Promise<void> {
  await files.createFile(file, text, modes[kind]).catch(notWritten(file))
}

/** Replaces the content of an existing file. */
export async function replaceFile(file: string, text: string, kind: 'certificate' | 'key'): Promise<void> {
  await files.replaceFile(file, text, modes[kind]).catch(notWritten(file))
}

function notWritten(file: string): (error: unknown) => never {
  return (error) => {
    throw failed(file, 'cannot be written', error)
  }
}

/**
 * Creates the directory and its parents, and makes the directory accessible only to its owner. `ours` lists the files
 * that the directory may contain.
 */
export async function makePrivateDirectory(directory: string, ours: readonly string[]): Promise<void> {
  try {
    await files.makePrivateDirectory(directory, ours)
  } catch (error) {
    throw failed(directory, 'cannot be made private', error)
  }
}

// Reads a file up to a size limit. O_NONBLOCK prevents the open call from waiting for a writer if the file is
// mistakenly a pipe.
async function readBounded(file: string): Promise<{ text: string; mode: number } | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(files.ignoring('ENOENT'))
    if (handle === undefined) return undefined
    await using _ = handle
    const status = await handle.stat()
    if (!status.isFile()) throw new Error('it is not a regular file')
    if (status.size > maxFileBytes) throw new Error(`it has ${status.size} bytes, more than ${maxFileBytes}`)
    return { text: await handle.readFile('utf8'), mode: status.mode }
  } catch (error) {
    throw failed(file, 'cannot be read', error)
  }
}

function parsed<T>(file: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new DamagedFile(file, `does not contain a valid PEM ${what} (${messageOf(error)})`, { cause: error })
  }
}

function oneBlock(text: string): string {
  const blocks = text.split('-----BEGIN ').length - 1
  if (blocks !== 1) throw new Error(`${blocks} PEM blocks instead of one`)
  return text
}

function failed(file: string, problem: string, cause: unknown): PkiFileError {
  return new PkiFileError(file, `${problem} (${messageOf(cause)})`, { cause })
}
