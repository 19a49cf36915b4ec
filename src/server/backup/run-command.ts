/** Reads the flags of `orch backup`, `restore`, `check` and `migrate` and runs the command. */
import { parseFlags } from '../../base/flags/flags.ts'
import { escapeText } from '../../tools/cli/printers/escape.ts'
import { backupFlags, checkFlags, migrateFlags, restoreFlags } from '../flags/backup.ts'
import { backup, check, restore } from './commands.ts'
import { migrate } from './migrate.ts'
import type { Terminal } from './progress-line.ts'

/** Runs the command. Returns whether it succeeded. Throws UsageError, BackupError and StoreError. */
export async function backupCommand(command: string, args: readonly string[]): Promise<boolean> {
  const terminal = terminalOn(process.stdout, process.stderr)
  if (command === 'check') return await check(parseFlags(checkFlags, args), terminal)
  if (command === 'backup') await backup(parseFlags(backupFlags, args), terminal)
  else if (command === 'restore') await restore(parseFlags(restoreFlags, args), terminal)
  else await migrate(parseFlags(migrateFlags, args), terminal)
  return true
}

/** The part of a stream such as `process.stdout` that commands use. */
interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
}

/**
 * Returns a terminal that writes to two streams, standard output and standard error. Escapes control characters,
 * because text may come from a backup.
 */
export function terminalOn(output: Output, errors: Output): Terminal {
  const { isTTY: isInteractive = false } = errors
  return {
    print: (line) => output.write(`${escapeText(line)}\n`),
    warn: (line) => errors.write(`orch: ${escapeText(line)}\n`),
    show: (line, last) => {
      const text = escapeText(line)
      errors.write(isInteractive ? `\r\x1b[K${text}${last ? '\n' : ''}` : `${text}\n`)
    },
    isInteractive,
  }
}
