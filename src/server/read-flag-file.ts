/** Reads a file that a flag names; a fault names the flag. */
import { readFileSync } from 'node:fs'
import { UsageError } from '../base/flags.ts'

export function readFlagFile(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--${flag}: cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`)
  }
}
