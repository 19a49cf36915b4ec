/** Why a program ended, as its user reads it: what the user can fix in one line, anything else with its stack. */

import { BackupError } from '../backup/backup-error.ts'
import { isError } from '../base/errors.ts'
import { UsageError } from '../base/flags.ts'
import { ConfigError } from '../client/node/kubeconfig-files.ts'
import { StatusError } from '../client/status-error.ts'
import { TransportError } from '../client/transport.ts'
import { JoinError } from '../joining/join-error.ts'
import { StageError } from '../nodes/stages/stage-error.ts'
import { PkiFileError } from '../pki/files.ts'
import { StoreError } from '../store/store.ts'

const known = [
  ...[UsageError, StoreError, BackupError, PkiFileError, ConfigError, JoinError, StageError],
  ...[StatusError, TransportError],
]

export function explainFailure(error: unknown): string {
  if (!isError(error)) return String(error)
  return known.some((each) => error instanceof each) ? error.message : (error.stack ?? error.message)
}
