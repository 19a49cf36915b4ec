/** Reads the flags of `orch backup`, `restore`, `check` and `migrate` and runs the command. */
import { parseFlags } from '../../base/flags/flags.ts'
import { backupFlags, checkFlags, migrateFlags, restoreFlags } from '../flags/backup.ts'
import { backup, check, restore } from './commands.ts'
import { migrate } from './migrate.ts'
import type { Terminal } from './progress-line.ts'

/** Returns whether the command succeeded. Throws UsageError, BackupError and StoreError. */
export async function backupCommand(command: string, args: readonly string[]): Promise<boolean> {
  if (command === 'check') return await check(parseFlags(checkFlags, args), terminal)
  if (command === 'backup') await backup(parseFlags(backupFlags, args), terminal)
  else if (command === 'restore') await restore(parseFlags(restoreFlags, args), terminal)
  else await migrate(parseFlags(migrateFlags, args), terminal)
  return true
}

const terminal: Terminal = {
  print: (line) => process.stdout.write(`${line}\n`),
  warn: (line) => process.stderr.write(`orch: ${line}\n`),
  show: (line, last) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}${last ? '\n' : ''}` : `${line}\n`),
  isInteractive: process.stderr.isTTY,
}
