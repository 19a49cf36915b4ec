/**
 * Reads files specified by flags. Errors name the flag. Pipes and devices are rejected, because reading from them may
 * never end.
 */
import { readFileSync, statSync } from 'node:fs'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'

const maxBytes = 16 * 1024 * 1024

/**
 * Returns the text of the file. If the file cannot be read or is too large, throws UsageError with the flag and the
 * file.
 */
export function readFlagFile(flag: string, file: string): string {
  try {
    const status = statSync(file)
    if (status.isDirectory()) throw new Error('it is a directory')
    if (!status.isFile()) throw new Error('it is not a regular file')
    if (status.size > maxBytes) throw new Error(`it has ${status.size} bytes, more than ${maxBytes}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--${flag}: cannot read ${file}: ${messageOf(error)}`)
  }
}
